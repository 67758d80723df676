// Search in conversations: passages with the query's words marked.

import { el, find, say } from "../dom.js";
import { day } from "../words.js";

const SHOWN = 10;

export function startSearch({ api, read }) {
  const view = find("#library");
  const form = find("#search");
  const box = find("input", form);
  const list = find("#hits");
  const problem = find(".problem", form);
  let latestQuery = "";

  async function search() {
    const query = (latestQuery = box.value.trim());
    say(problem, "");
    if (!query) return show([]);
    try {
      const { hits } = await api.passages(query);
      const results = await Promise.all(hits.slice(0, SHOWN).map(async (hit) => ({ ...hit, conversation: await api.conversation(hit.conversation_id) })));
      if (latestQuery === query) show(results.map((hit) => item(hit, query)), count(hits.length));
    } catch (failed) {
      if (latestQuery === query) say(problem, failed.message);
    }
  }

  function show(items, countText = "") {
    find("#hit-count").textContent = countText;
    list.replaceChildren(...items);
    view.toggleAttribute("data-searching", Boolean(latestQuery));
  }

  function item({ conversation: { id, structured, started_at }, passages }, query) {
    return el("li", {}, el("button", { type: "button", class: "card", onclick: () => read(id, { question: query }) },
      el("span", { class: "emoji", "aria-hidden": "true" }, structured.emoji),
      el("span", { class: "title" }, structured.title || "Untitled conversation"),
      el("span", { class: "meta" }, day(started_at)),
      ...passages.slice(0, 2).map(({ text }) => el("span", { class: "passage" }, ...highlighted(text, query)))));
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    search();
  });
  box.addEventListener("search", search);
}

function count(found) {
  if (!found) return "Nothing found.";
  return found > SHOWN ? `The ${SHOWN} best of ${found}` : `${found} found`;
}

/** A text in pieces; words that begin like a word of `query` are marked. */
export function highlighted(text, query) {
  const words = query.match(/[\p{L}\p{N}]{3,}|\p{N}+/gu);
  if (!words) return [text];
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])((?:${words.join("|")})[\\p{L}\\p{N}]*)`, "giu");
  return text.split(pattern).map((piece, at) => (at % 2 ? el("mark", {}, piece) : piece));
}
