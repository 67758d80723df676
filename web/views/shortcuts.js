// Keyboard shortcuts, and the list of them.

import { el, find, openDialog } from "../dom.js";
import { t } from "../i18n.js";

const SHORTCUTS = [
  [t("Enter"), t("Send the question")],
  [t("Shift + Enter"), t("Begin a new line")],
  [t("Up"), t("Write the last question again")],
  [t("Esc"), t("Stop the answer")],
  [t("/ or Ctrl + K"), t("Search your conversations")],
  ["?", t("Show this list")],
];

/** Listens on the whole page; single characters count only outside of text fields. */
export function startShortcuts() {
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return;
    const act = actionOf(event);
    if (!act) return;
    event.preventDefault();
    act();
  });
}

function actionOf({ key, ctrlKey, metaKey, altKey, target }) {
  if (altKey) return null;
  if (ctrlKey || metaKey) return key.toLowerCase() === "k" ? focusSearch : null;
  if (target.closest("input, textarea, select, [contenteditable]")) return null;
  return { "/": focusSearch, "?": showList }[key];
}

function focusSearch() {
  const box = find("#words");
  if (!box.checkVisibility()) find("#views [data-to=library]").click();
  box.focus();
  box.select();
}

function showList() {
  const rows = SHORTCUTS.flatMap(([keys, what]) => [el("dt", {}, el("kbd", {}, keys)), el("dd", {}, what)]);
  const dialog = openDialog(t("Keyboard shortcuts"),
    el("dl", { class: "shortcuts" }, ...rows),
    el("p", { class: "row" }, el("button", { type: "button", onclick: () => dialog.close() }, t("Close"))));
}
