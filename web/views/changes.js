// What an answer changed in the library, each with a button that undoes it.

import { el } from "../dom.js";
import { t } from "../i18n.js";
import { plainly } from "../words.js";

/** The list of a message's changes; nothing where there are none. */
export function changes(api, message, attempt) {
  const made = message.metadata?.changes ?? [];
  if (!made.length) return [];
  return [el("ul", { class: "changes", "aria-label": t("Changes") }, ...made.map((change) => item(api, message.id, change, attempt)))];
}

function item(api, messageId, change, attempt) {
  const node = el("li");
  const show = ({ text, state }) => node.replaceChildren(el("span", { lang: "en", dir: "auto" }, plainly(text)), state === "undone" ? el("span", { class: "meta", role: "status" }, t("Undone")) : button);
  const undo = () => attempt(async () => show(await api.undoChange(messageId, change.id)));
  const button = el("button", { type: "button", "aria-label": plainly(t("Undo: {change}", { change: change.text })), onclick: undo }, t("Undo"));
  show(change);
  return node;
}
