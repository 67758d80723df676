// Search in conversations, while its words are written: snippets with what was found marked, by who speaks and by day.

import { el, find, moveTo, say } from "../dom.js";
import { formatNumber, t } from "../i18n.js";
import { DAY_MS, day, speakerName } from "../words.js";

const SHOWN = 10;
const PAUSE_MS = 250;

export function startSearch({ api, read }) {
  const view = find("#library");
  const form = find("#search");
  const box = find("input", form);
  const list = find("#hits");
  const problem = find(".problem", form);
  const more = find("#more-hits");
  const person = find("#spoken-by", form);
  const [from, to] = form.querySelectorAll("input[type=date]");
  let latest = 0;
  let pause;
  let rest = [];
  let areNamesShown = false;

  async function search() {
    clearTimeout(pause);
    const number = ++latest;
    const query = box.value.trim();
    say(problem, "");
    view.toggleAttribute("data-searching", Boolean(query));
    if (!query) return show([]);
    showNames();
    try {
      const { items, fallback_without_filters: isOfOthers } = await api.passages(query, filters());
      const found = isOfOthers ? [] : items;
      if (number === latest) show(found.map((hit) => item(hit, query)), count(found.length));
    } catch (failed) {
      if (number === latest) say(problem, failed);
    }
  }

  function filters() {
    return {
      people: person.value ? [person.value] : [],
      start_date: from.value ? new Date(`${from.value}T00:00`).toISOString() : null,
      end_date: to.value ? new Date(Date.parse(`${to.value}T00:00`) + DAY_MS).toISOString() : null,
    };
  }

  async function showNames() {
    if (areNamesShown) return;
    areNamesShown = true;
    const speakers = await api.namedSpeakers().catch(() => []);
    person.append(...speakers.map(({ name }) => new Option(name, name)));
  }

  function show(items, countText = "") {
    find("#hit-count").textContent = countText;
    list.replaceChildren(...items.slice(0, SHOWN));
    rest = items.slice(SHOWN);
    more.hidden = !rest.length;
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
  box.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(search, PAUSE_MS);
  });
  for (const filter of [person, from, to]) filter.addEventListener("change", search);
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
