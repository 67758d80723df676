// Daily summaries: the list of days, one day to read, and making today's now.

import { attempting, el, find, icon, moveTo } from "../dom.js";
import { t, tn } from "../i18n.js";
import { day as dayName } from "../words.js";

const PAGE = 30;

/** Returns `show(day)`: a day (YYYY-MM-DD) to read, or the list; `read(id)` opens a conversation, `open(day)` goes to a day or the list. */
export function startSummaries({ api, read, open }) {
  const view = find("#summaries");
  const list = find(".rows", view);
  const more = find(".more", view);
  const one = find(".summary", view);
  const make = find(".make", view);
  const attempt = attempting(find(".problem", view));
  let wanted;

  function show(day) {
    wanted = day;
    for (const node of view.querySelectorAll(".all")) node.hidden = Boolean(day);
    one.hidden = !day;
    one.replaceChildren();
    return attempt(() => (day ? showDay(day) : showList()));
  }

  async function showList() {
    const { summaries } = await api.summaries(PAGE, 0);
    list.replaceChildren(...summaries.map(row));
    find(".empty", view).hidden = summaries.length > 0;
    more.hidden = summaries.length < PAGE;
  }

  const row = ({ id, day_emoji: emoji, headline }) => el("li", {},
    el("button", { type: "button", class: "day", onclick: () => open(id) },
      el("span", { class: "emoji", "aria-hidden": "true" }, emoji),
      el("span", { class: "title", dir: "auto" }, headline),
      el("span", { class: "meta" }, date(id))));

  async function showDay(day) {
    const summary = await api.summary(day);
    if (wanted !== day) return;
    one.replaceChildren(
      el("button", { type: "button", class: "quiet", onclick: () => open() }, t("All summaries")),
      el("h3", { tabindex: "-1", dir: "auto" }, `${summary.day_emoji} ${summary.headline}`),
      el("p", { class: "meta" }, `${date(day)} · ${conversationCount(summary.stats.total_conversations)}`),
      el("p", { dir: "auto" }, summary.overview),
      ...parts(summary));
    find("h3", one).focus();
  }

  const parts = (summary) => [
    ...part(t("Highlights"), summary.highlights.map(({ emoji, topic, summary: text, conversation_ids: ids }) => line(`${emoji} ${topic}: ${text}`, ids[0]))),
    ...part(t("To do"), summary.action_items.map((item) => line(item.description, item.source_conversation_id))),
    ...part(t("Decided"), summary.decisions_made.map((item) => line(item.decision, item.conversation_id))),
    ...part(t("Still open"), summary.unresolved_questions.map((item) => line(item.question, item.conversation_id))),
    ...part(t("Learned"), summary.knowledge_nuggets.map((item) => line(item.insight, item.conversation_id))),
  ];

  const part = (title, lines) => (lines.length ? [el("h4", {}, title), el("ul", { class: "items" }, ...lines)] : []);

  const line = (text, source) => el("li", {}, el("span", { dir: "auto" }, text),
    source && el("button", { type: "button", class: "quiet", "aria-label": t("Open the conversation: {text}", { text }), onclick: () => read(source) }, icon("open")));

  more.addEventListener("click", () => attempt(async () => {
    const { summaries } = await api.summaries(PAGE, list.childElementCount);
    const added = summaries.map(row);
    list.append(...added);
    more.hidden = summaries.length < PAGE;
    moveTo(added[0]);
  }));

  make.addEventListener("click", () => attempt(async () => {
    make.disabled = true;
    try {
      const { summary_id: day } = await api.makeSummary();
      open(day);
    } finally {
      make.disabled = false;
    }
  }));
  return { show };
}

// Noon, so that it is the same day wherever the browser is.
const date = (day) => dayName(`${day}T12:00`);
const conversationCount = (count) => tn({ one: "{n} conversation", other: "{n} conversations" }, count);
