// Search in chats: titles and messages with the query's words marked; a hit opens the chat at its message.

import { attempting, el, find, moveTo } from "../dom.js";
import { t, tn } from "../i18n.js";
import { day } from "../words.js";
import { titleOf } from "./chats.js";
import { highlighted } from "./highlighted.js";

/** `open(chat, message)` opens a chat, at a message if there is one. */
export function startChatSearch({ api, open }) {
  const form = find("#chat-search");
  const box = find("input", form);
  const list = find("#chat-hits");
  const older = find("#older-chat-hits");
  const attempt = attempting(find(".problem", form));
  let query = "";
  let cursor = null;

  const search = () => attempt(async () => {
    const asked = (query = box.value.trim());
    const found = asked ? await api.searchChats(asked) : { items: [], next_cursor: null };
    if (asked !== query) return;
    list.replaceChildren();
    show(found);
  });

  const searchOlder = () => attempt(async () => {
    const asked = query;
    const found = await api.searchChats(asked, cursor);
    if (asked !== query) return;
    show(found);
    if (found.items.length) moveTo(list.children[list.children.length - found.items.length]);
  });

  function show({ items, next_cursor: next }) {
    list.append(...items.map(item));
    cursor = next;
    older.hidden = !next;
    list.hidden = !query;
    find("#chat-list").hidden = Boolean(query);
    find("#chat-hit-count").textContent = query ? count(list.childElementCount) : "";
  }

  function item({ chat, message }) {
    return el("li", {}, el("button", { type: "button", class: "pick", onclick: () => open(chat.id, message?.id) },
      el("span", { class: "title", dir: "auto" }, ...highlighted(titleOf(chat), query)),
      message && el("span", { class: "passage", dir: "auto" }, ...highlighted(message.excerpt, query)),
      el("span", { class: "meta" }, day(message?.created_at ?? chat.updated_at))));
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    search();
  });
  box.addEventListener("search", search);
  older.addEventListener("click", searchOlder);
}

const count = (found) => (found ? tn({ one: "{n} found in chats", other: "{n} found in chats" }, found) : t("Nothing found."));
