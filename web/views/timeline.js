// The timeline: conversations, events and due tasks by day, newest first.

import { el, find, icon, moveTo, say } from "../dom.js";
import { t } from "../i18n.js";
import { day, hour } from "../words.js";

const NOTHING = { items: [], next: null };

/** Returns `{reload}`; `read(id)` opens a conversation. */
export function startTimeline({ api, read }) {
  const view = find("#timeline");
  const more = find(".more", view);
  let shown;

  // A cursor is undefined before the first page and null after the last.
  function reload() {
    shown = { entries: [], conversationCursor: undefined, taskCursor: undefined };
    return grow(shown);
  }

  async function grow(chronicle) {
    more.disabled = true;
    try {
      const [conversationPage, taskPage] = await Promise.all([
        chronicle.conversationCursor === null ? NOTHING : api.conversations(chronicle.conversationCursor),
        chronicle.taskCursor === null ? NOTHING : api.tasks(chronicle.taskCursor),
      ]);
      if (chronicle !== shown) return;
      const entries = [...conversationPage.items.flatMap(fromConversation), ...taskPage.items.flatMap(fromTask)];
      chronicle.entries.push(...entries.map((entry) => ({ at: entry.at, row: row(entry) })));
      Object.assign(chronicle, { conversationCursor: conversationPage.next, taskCursor: taskPage.next });
      draw(chronicle);
      say(find(".problem", view), "");
    } catch (problem) {
      if (chronicle === shown) say(find(".problem", view), problem);
    } finally {
      if (chronicle === shown) more.disabled = false;
    }
  }

  function draw({ entries, conversationCursor, taskCursor }) {
    const latestFirst = entries.toSorted((one, other) => other.at - one.at);
    const days = Map.groupBy(latestFirst, ({ at }) => day(at));
    find(".days", view).replaceChildren(...[...days].map(([name, those]) =>
      el("li", {}, el("h3", {}, name), el("ul", {}, ...those.map(({ row }) => row)))));
    find(".empty", view).hidden = entries.length > 0;
    more.hidden = conversationCursor === null && taskCursor === null;
  }

  const rows = () => [...view.querySelectorAll(".days ul > li")];

  function row({ at, symbol, kind, title, source }) {
    return el("li", {},
      el("time", { datetime: at.toISOString() }, hour(at)),
      icon(symbol),
      source ? el("button", { type: "button", class: "title", dir: "auto", onclick: () => read(source) }, title) : el("span", { class: "title", dir: "auto" }, title),
      el("span", { class: "meta" }, kind));
  }

  // Rows of a later page may belong between those already shown.
  more.addEventListener("click", async () => {
    const known = new Set(rows());
    await grow(shown);
    moveTo(rows().find((one) => !known.has(one)));
  });
  return { reload };
}

function fromConversation({ id, started_at, structured }) {
  const title = structured.title || t("Untitled conversation");
  return [
    { at: new Date(started_at), symbol: "chat", kind: t("Conversation"), title, source: id },
    ...structured.events.map((event) => fromEvent(event, id)),
  ];
}

function fromEvent({ title, start }, source) {
  const at = new Date(start);
  return { at, symbol: "open", kind: at > new Date() ? t("Coming up") : t("Past event"), title, source };
}

function fromTask({ description, due_at, completed, conversation_id }) {
  if (!due_at) return [];
  const kind = completed ? t("Task, done") : t("Task due");
  return [{ at: new Date(due_at), symbol: "task", kind, title: description, source: conversation_id }];
}
