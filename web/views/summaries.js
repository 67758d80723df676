// Summaries: the list of weeks and days, one of them to read, and making today's now.

import { attempting, el, find, icon, moveTo } from "../dom.js";
import { t, tn } from "../i18n.js";
import { day as dayName } from "../words.js";

const PAGE = 30;
const WEEK = "week-"; // before its Monday

/** Returns `show(id)`: a day (YYYY-MM-DD) or a week to read, or the list; `read(id)` opens a conversation, `open(id)` goes to a summary or the list. */
export function startSummaries({ api, read, open }) {
  const view = find("#summaries");
  const list = find(".rows", view);
  const more = find(".more", view);
  const one = find(".summary", view);
  const make = find(".make", view);
  const attempt = attempting(find(".problem", view));
  let wanted;
  let count;
  let lastWeek;

  function show(id) {
    wanted = id;
    for (const node of view.querySelectorAll(".all")) node.hidden = Boolean(id);
    one.hidden = !id;
    one.replaceChildren();
    return attempt(() => (!id ? showList() : id.startsWith(WEEK) ? showWeek(id) : showDay(id)));
  }

  async function showList() {
    count = 0;
    lastWeek = undefined;
    const rows = await loadPage();
    list.replaceChildren(...rows);
    find(".empty", view).hidden = rows.length > 0;
  }

  async function loadPage() {
    const { summaries } = await api.summaries({ limit: PAGE, offset: count });
    count += summaries.length;
    more.hidden = summaries.length < PAGE;
    return summaries.flatMap(rowsOf);
  }

  function rowsOf(summary) {
    const monday = mondayOf(summary.id);
    const begins = monday !== lastWeek;
    lastWeek = monday;
    return begins ? [weekRow(monday), dayRow(summary)] : [dayRow(summary)];
  }

  const weekRow = (monday) => el("li", { class: "week" }, el("button", { type: "button", class: "quiet", onclick: () => open(WEEK + monday) }, weekName(monday)));

  const dayRow = ({ id, day_emoji: emoji, headline }) => el("li", {},
    el("button", { type: "button", class: "day", onclick: () => open(id) },
      el("span", { class: "emoji", "aria-hidden": "true" }, emoji),
      el("span", { class: "title", dir: "auto" }, headline),
      el("span", { class: "meta" }, date(id))));

  async function showDay(day) {
    const summary = await api.summary(day);
    if (wanted === day) present(`${summary.day_emoji} ${summary.headline}`,
      el("p", { class: "meta" }, `${date(day)} · ${conversationCount(summary.stats.total_conversations)}`),
      el("p", { dir: "auto" }, summary.overview),
      ...part(t("Highlights"), summary.highlights.map(({ emoji, topic, summary: text, conversation_ids: ids }) => line(`${emoji} ${topic}: ${text}`, ids[0]))),
      ...proven([summary]),
      ...part(t("Still open"), summary.unresolved_questions.map((item) => line(item.question, item.conversation_id))),
      ...part(t("Learned"), summary.knowledge_nuggets.map((item) => line(item.insight, item.conversation_id))));
  }

  async function showWeek(id) {
    const monday = id.slice(WEEK.length);
    const { summaries } = await api.summaries({ start_date: monday, end_date: addDays(monday, 6) });
    const total = summaries.reduce((sum, { stats }) => sum + stats.total_conversations, 0);
    if (wanted === id) present(weekName(monday),
      el("p", { class: "meta" }, conversationCount(total)),
      ...proven(summaries),
      el("h4", {}, t("Days")), el("ul", { class: "rows" }, ...summaries.map(dayRow)));
  }

  function present(title, ...nodes) {
    one.replaceChildren(
      el("button", { type: "button", class: "quiet", onclick: () => open() }, t("All summaries")),
      el("h3", { tabindex: "-1", dir: "auto" }, title), ...nodes);
    find("h3", one).focus();
  }

  // Each with the line that says it.
  const proven = (summaries) => [
    ...part(t("Decided"), summaries.flatMap((day) => day.decisions_made.map((item) => line(item.decision, item.conversation_id, item.segment)))),
    ...part(t("To do"), summaries.flatMap((day) => day.action_items.filter(({ completed }) => !completed).map((item) => line(item.description, item.source_conversation_id, item.segment)))),
    ...part(t("Numbers"), summaries.flatMap((day) => day.numbers.map((item) => line(item.said, item.conversation_id, item.segment)))),
  ];

  const part = (title, lines) => (lines.length ? [el("h4", {}, title), el("ul", { class: "items" }, ...lines)] : []);

  const line = (text, source, segment) => el("li", {}, el("span", { dir: "auto" }, text),
    source && el("button", { type: "button", class: "quiet", "aria-label": t("Open the conversation: {text}", { text }), onclick: () => read(source, { segment }) }, icon("open")));

  more.addEventListener("click", () => attempt(async () => {
    const added = await loadPage();
    list.append(...added);
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
const weekName = (monday) => t("Week of {day}", { day: date(monday) });
const conversationCount = (count) => tn({ one: "{n} conversation", other: "{n} conversations" }, count);

function addDays(day, days) {
  const moved = new Date(`${day}T12:00Z`);
  moved.setUTCDate(moved.getUTCDate() + days);
  return moved.toISOString().slice(0, 10);
}

const mondayOf = (day) => addDays(day, -((new Date(`${day}T12:00Z`).getUTCDay() + 6) % 7));
