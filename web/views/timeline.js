// The timeline: conversations, events, due tasks and what chats were about by day, newest first.

import { attempting, el, find, icon, iconButton, moveTo, say } from "../dom.js";
import { at as address, query } from "../http.js";
import { t } from "../i18n.js";
import { day, hour } from "../words.js";

const NOTHING = { items: [], next: null };

/** Returns `{reload}`; `read(id)` opens a conversation, `openChat(id)` a chat. */
export function startTimeline({ api, read, openChat }) {
  const view = find("#timeline");
  const more = find(".more", view);
  const attempt = attempting(find(".problem", view));
  const arcs = (cursor) => api.call("GET", `/v2/arcs?${query({ limit: 50, cursor })}`);
  let shown;

  // A cursor is undefined before the first page and null after the last.
  function reload() {
    shown = { entries: [], conversationCursor: undefined, taskCursor: undefined, arcCursor: undefined };
    return grow(shown);
  }

  async function grow(chronicle) {
    more.disabled = true;
    try {
      const [conversationPage, taskPage, arcPage] = await Promise.all([
        chronicle.conversationCursor === null ? NOTHING : api.conversations(chronicle.conversationCursor),
        chronicle.taskCursor === null ? NOTHING : api.tasks(chronicle.taskCursor),
        chronicle.arcCursor === null ? NOTHING : arcs(chronicle.arcCursor),
      ]);
      if (chronicle !== shown) return;
      const entries = [...conversationPage.items.flatMap(fromConversation), ...taskPage.items.flatMap(fromTask), ...arcPage.items.map(fromArc)];
      chronicle.entries.push(...entries.map((entry) => ({ at: entry.at, row: row(entry) })));
      Object.assign(chronicle, { conversationCursor: conversationPage.next, taskCursor: taskPage.next, arcCursor: arcPage.next });
      draw(chronicle);
      say(find(".problem", view), "");
    } catch (problem) {
      if (chronicle === shown) say(find(".problem", view), problem);
    } finally {
      if (chronicle === shown) more.disabled = false;
    }
  }

  function draw({ entries, conversationCursor, taskCursor, arcCursor }) {
    const latestFirst = entries.toSorted((one, other) => other.at - one.at);
    const days = Map.groupBy(latestFirst, ({ at }) => day(at));
    find(".days", view).replaceChildren(...[...days].map(([name, those]) =>
      el("li", {}, el("h3", {}, name), el("ul", {}, ...those.map(({ row }) => row)))));
    find(".empty", view).hidden = entries.length > 0;
    more.hidden = [conversationCursor, taskCursor, arcCursor].every((cursor) => cursor === null);
  }

  const rows = () => [...view.querySelectorAll(".days ul > li")];

  function row({ at, symbol, kind, title, source, arc }) {
    const open = arc ? () => openChat(arc.session_id) : source && (() => read(source));
    return el("li", {},
      el("time", { datetime: at.toISOString() }, hour(at)),
      icon(symbol),
      open ? el("button", { type: "button", class: "title", dir: "auto", onclick: open }, title) : el("span", { class: "title", dir: "auto" }, title),
      el("span", { class: "meta" }, kind),
      arc && iconButton("bin", t("Forget what this chat was about"), () => forget(arc)));
  }

  const forget = ({ id }) => attempt(async () => {
    await api.call("DELETE", address`/v2/arcs/${id}`);
    await reload();
    find("h2", view).focus();
  });

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
  return [{ at: new Date(due_at), symbol: completed ? "done" : "task", kind, title: description, source: conversation_id }];
}

const fromArc = (arc) => ({ at: new Date(arc.ended_at), symbol: "chats", kind: t("What a chat was about"), title: arc.summary, arc });
