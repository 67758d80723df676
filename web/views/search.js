// Search in conversations: snippets with the words that were found marked.

import { el, find, moveTo, say } from "../dom.js";
import { formatNumber, t } from "../i18n.js";
import { day, speakerName } from "../words.js";

const SHOWN = 10;

export function startSearch({ api, read }) {
  const view = find("#library");
  const form = find("#search");
  const box = find("input", form);
  const list = find("#hits");
  const problem = find(".problem", form);
  const more = find("#more-hits");
  let latestQuery = "";
  let rest = [];

  async function search() {
    const query = (latestQuery = box.value.trim());
    say(problem, "");
    if (!query) return show([]);
    try {
      const { items } = await api.passages(query);
      if (latestQuery === query) show(items.map((hit) => item(hit, query)), count(items.length));
    } catch (failed) {
      if (latestQuery === query) say(problem, failed);
    }
  }

  function show(items, countText = "") {
    find("#hit-count").textContent = countText;
    list.replaceChildren(...items.slice(0, SHOWN));
    rest = items.slice(SHOWN);
    more.hidden = !rest.length;
    view.toggleAttribute("data-searching", Boolean(latestQuery));
  }

  function item({ id, structured, started_at, snippets }, query) {
    return el("li", {}, el("button", { type: "button", class: "card", onclick: () => read(id, { question: query }) },
      el("span", { class: "emoji", "aria-hidden": "true" }, structured.emoji),
      el("span", { class: "title", dir: "auto" }, structured.title || t("Untitled conversation")),
      el("span", { class: "meta" }, day(started_at)),
      ...snippets.map(snippet)));
  }

  more.addEventListener("click", () => {
    list.append(...rest);
    more.hidden = true;
    find("#hit-count").textContent = found(list.children.length);
    moveTo(rest[0]);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    search();
  });
  box.addEventListener("search", search);
}

function count(total) {
  if (!total) return t("Nothing found.");
  return total > SHOWN ? t("The {shown} best of {found}", { shown: formatNumber(SHOWN), found: formatNumber(total) }) : found(total);
}

const found = (total) => t("{found} found", { found: formatNumber(total) });

// A turn says whose it is; a part of the overview does not.
function snippet({ pieces, segment, ...speaker }) {
  return el("span", { class: "passage", dir: "auto" }, segment !== null && `${speakerName(speaker)}: `,
    ...pieces.map(({ text, is_match: isMatch }) => (isMatch ? el("mark", {}, text) : text)));
}
