// One question of the reader: its text, its versions, and a form that edits it.

import { el, find, iconButton } from "../dom.js";
import { t } from "../i18n.js";
import { versionSwitch } from "./versions.js";

const MAX_CHARS = "20000";

/**
 * Returns the node of a question, with cards of its files; `load(file)` loads one. It can be edited once its `data-id` is set: `edit(node, text)` asks it with
 * another text. `show(id)` shows another of its versions.
 */
export function question({ id = null, text, metadata, files }, { edit, show, load }) {
  const paragraph = el("p", { dir: "auto" }, text);
  const tools = el("div", { class: "actions" },
    versionSwitch({ id, metadata }, show),
    iconButton("pen", t("Edit this question"), () => openForm(node, { paragraph, tools }, (edited) => edit(node, edited)), { class: "quiet edit-question" }));
  const node = el("article", { class: "message human", "aria-label": t("You"), "data-id": id }, paragraph, tools);
  if (files?.length) import("./file_cards.js").then(({ fileCards }) => node.prepend(fileCards(files, load)));
  return node;
}

function openForm(node, { paragraph, tools }, save) {
  const field = el("textarea", { "aria-label": t("Your question"), maxlength: MAX_CHARS, dir: "auto", rows: "3" });
  const close = () => {
    form.replaceWith(paragraph, tools);
    find(".edit-question", tools).focus();
  };
  const form = el("form", { class: "editing" }, field,
    el("div", { class: "row" },
      el("button", { class: "primary" }, t("Ask")),
      el("button", { type: "button", onclick: close }, t("Cancel"))));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const edited = field.value.trim();
    if (!edited || edited === paragraph.textContent) return close();
    form.replaceWith(paragraph, tools);
    save(edited);
  });
  form.addEventListener("keydown", (event) => submitOrClose(event, form, close));
  field.value = paragraph.textContent;
  paragraph.remove();
  tools.replaceWith(form);
  field.focus();
}

// The keys of the box for new questions.
function submitOrClose(event, form, close) {
  if (event.key === "Escape") {
    event.stopPropagation();
    close();
  }
  if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.target.localName === "button") return;
  event.preventDefault();
  form.requestSubmit();
}
