// The inbox: what apps had to say, newest first.

import { el, find, say } from "../dom.js";
import { moment } from "../words.js";

const LOOK_EVERY_MS = 15_000;

export function startInbox({ api }) {
  const list = find("#notifications");
  const more = find("#more-notifications");
  const problemLine = find("#inbox .problem");
  const seen = new Set();
  let cursor;

  async function load(from) {
    try {
      const page = await api.inbox(from);
      cursor = page.next_cursor ?? undefined;
      more.hidden = !cursor;
      return page.items;
    } catch (problem) {
      say(problemLine, problem.message);
      return [];
    }
  }

  async function refresh() {
    say(problemLine, "");
    const items = await load();
    list.replaceChildren(...items.map((item) => notification(item, seen)));
    find("#inbox-empty").hidden = items.length > 0 || !problemLine.hidden;
    count(items.filter((item) => isNew(item, seen)).length);
    return items;
  }

  more.addEventListener("click", async () => {
    list.append(...(await load(cursor)).map((item) => notification(item, seen)));
  });
  setInterval(() => document.visibilityState === "visible" && refresh(), LOOK_EVERY_MS);
  refresh();

  return {
    async opened() {
      for (const item of await refresh()) seen.add(item.id);
      count(0);
    },
  };
}

const isNew = (item, seen) => !item.read && !seen.has(item.id);

function count(unread) {
  const badge = find("#unread");
  badge.hidden = !unread;
  badge.textContent = unread;
  badge.setAttribute("aria-label", `${unread} unread`);
}

function notification(item, seen) {
  return el("li", { class: isNew(item, seen) ? "unread" : null },
    el("p", { class: "title" }, item.title),
    el("p", {}, item.body),
    el("p", { class: "hint" }, moment(item.created_at)));
}
