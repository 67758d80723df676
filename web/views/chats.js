// The list of chats: create, open, rename, star and delete.

import { attempting, el, find, iconButton } from "../dom.js";
import { t } from "../i18n.js";
import { render } from "../markdown.js";
import { isIncognito, isSealed } from "../pending.js";
import { day } from "../words.js";
import { edit } from "./edit.js";
import { remains, removeLater } from "./throwing_away.js";

const MAIN = "main";
const UNTITLED = "New Chat";
const TITLE_POLLS_MS = [300, 1000, 3000]; // the title arrives after the answer

/** Returns `{refresh(session)}`, which marks the open chat and tells `onShown(chat)`; `open(id)` opens another, `showProjects()` fills theirs. */
export function startChats({ api, uid, open, onShown, showProjects }) {
  const view = find("#chats");
  const list = find("#chat-list");
  const sealed = find("#sealed");
  let current = null;
  let refreshes = 0;
  let loads = 0;

  const attempt = attempting(find(":scope > .problem", view));

  // An answer that a later load has overtaken is not shown.
  async function load() {
    const started = ++loads;
    const chats = await api.chats();
    const opened = chats.find(({ id }) => id === current);
    if (started !== loads) return opened;
    find("#chat-title").textContent = opened ? titleOf(opened) : isIncognito(current) ? t("Incognito chat") : t("Chat");
    find("#chat").classList.toggle("incognito", isIncognito(current));
    find("#chat").classList.toggle("sealed", isSealed(current));
    if (current) onShown(opened ?? { id: current });
    if (!find(".edit", list)) list.replaceChildren(...starredFirst(chats.filter(remains)).map(row));
    return opened;
  }

  function refresh(session) {
    current = session;
    const refreshed = ++refreshes;
    const poll = async (at = 0) => {
      if (refreshed !== refreshes) return;
      const opened = await load();
      const mayGetTitle = opened?.title === UNTITLED && opened.message_count > 1;
      if (mayGetTitle && at < TITLE_POLLS_MS.length) setTimeout(() => attempt(() => poll(at + 1)), TITLE_POLLS_MS[at]);
    };
    attempt(poll);
  }

  function row(chat) {
    const title = titleOf(chat);
    const pick = el("button", { type: "button", class: "pick", "aria-current": chat.id === current && "true", onclick: () => open(chat.id) },
      el("span", { class: "title", dir: "auto" }, title),
      el("span", { class: "preview", dir: "auto" }, render(chat.preview).textContent),
      el("span", { class: "meta" }, day(chat.updated_at)));
    const change = (changes) => attempt(async () => {
      await api.changeChat(chat.id, changes);
      await load();
    });
    return el("li", {}, pick, el("div", { class: "tools" },
      !chat.isUnreadable && iconButton("star", t("Star {title}", { title }), () => change({ starred: !chat.starred }), { "aria-pressed": String(chat.starred) }),
      !chat.isUnreadable && iconButton("pen", t("Rename {title}", { title }), () => edit(pick, { label: t("Title"), text: title }, (text) => change({ title: text }))),
      iconButton("bin", t("Delete {title}", { title }), () => remove(chat, title))));
  }

  // The main chat stays open, so that its messages go at once.
  const remove = ({ id }, title) => attempt(async () => {
    if (id !== MAIN) {
      await removeLater({ id, title }, api.deleteChat, load);
      return id === current && open(MAIN);
    }
    const { isSure } = await import("./asking.js");
    if (!(await isSure(t("Delete “{title}” with all its messages? Your conversations stay.", { title }), t("Delete")))) return;
    await api.deleteChat(id);
    open(MAIN);
  });

  let pairing = null; // once the owner switched sealing on
  const begin = (fields) => attempt(async () => {
    const { id } = await api.beginChat(fields);
    pairing?.show(sealed.checked); // the first sealed chat made a key
    open(id);
    find("#question").focus();
  });
  find("#new-chat").addEventListener("click", () => begin(sealed.checked ? { storage_mode: "client_encrypted" } : {}));
  find("#new-incognito").addEventListener("click", () => begin({ storage_mode: "incognito" }));
  sealed.addEventListener("change", async () => {
    const { startPairing } = await import("./pairing.js");
    pairing ??= startPairing({ api, uid, onPaired: () => (isSealed(current) ? open(current) : attempt(load)) });
    pairing.show(sealed.checked);
  });
  find("#projects").addEventListener("toggle", ({ target }) => target.open && showProjects());
  return { refresh };
}

/** The title of a chat, for people. */
export function titleOf({ id, title }) {
  if (title !== UNTITLED) return title;
  return id === MAIN ? t("Main chat") : t("New chat");
}

const starredFirst = (chats) => chats.toSorted((one, other) => other.starred - one.starred);
