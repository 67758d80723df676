// The inbox: notifications of apps, newest first; showing one marks it as read.

import { attempting, el, find, moveTo } from "../dom.js";
import { t, tn } from "../i18n.js";
import { moment } from "../words.js";

const POLL_MS = 15_000;

export function startInbox({ api }) {
  const view = find("#inbox");
  const list = find("#notifications");
  const more = find("#more-notifications");
  const listed = new Set();
  let cursor = null;

  async function load(from) {
    const { items, next_cursor } = await api.inbox(from);
    if (from || !listed.size) cursor = next_cursor;
    more.hidden = !cursor;
    return items;
  }

  // Skips notifications that the list already shows.
  function cards(items) {
    const added = items.filter(({ id }) => !listed.has(id));
    for (const { id } of added) listed.add(id);
    return added.map(notification);
  }

  async function refresh() {
    const items = await load();
    list.prepend(...cards(items));
    find("#inbox-empty").hidden = listed.size > 0;
    await countUnread(items.filter(({ read }) => !read));
  }

  async function countUnread(unread) {
    const isShown = view.checkVisibility();
    showCount(isShown ? 0 : unread.length);
    if (isShown) await Promise.all(unread.map(({ id }) => api.markRead(id)));
  }

  const attempt = attempting(find(".problem", view));
  const look = () => attempt(refresh);

  more.addEventListener("click", () => attempt(async () => {
    const added = cards(await load(cursor));
    list.append(...added);
    moveTo(added[0]);
  }));
  setInterval(() => document.visibilityState === "visible" && look(), POLL_MS);
  look();
  return { look };
}

function showCount(unread) {
  const badge = find("#unread");
  badge.hidden = !unread;
  badge.textContent = unread;
  badge.setAttribute("aria-label", tn({ one: "{n} unread", other: "{n} unread" }, unread));
}

function notification({ title, body, created_at, read }) {
  return el("li", { class: read ? null : "unread" },
    el("p", { class: "title", dir: "auto" }, title, !read && el("span", { class: "badge" }, t("new"))),
    el("p", { class: "body", dir: "auto" }, body),
    el("p", { class: "hint" }, moment(created_at)));
}
