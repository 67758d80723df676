// Editing in place: a text gives way to a field, Enter keeps, Escape gives up.

import { el } from "../dom.js";

/** Puts a field in the place of `node`; `save(text)` is called with another, not empty text. */
export function edit(node, { label, text, long = false }, save) {
  const opener = document.activeElement;
  const field = el(long ? "textarea" : "input", { "aria-label": label, maxlength: long ? "1000" : "200" });
  const form = el("form", { class: "edit" }, field);
  let open = true;
  field.value = text;

  const close = () => {
    if (!open) return;
    open = false;
    form.replaceWith(node);
    opener?.focus();
  };
  const keep = (event) => {
    event?.preventDefault();
    const written = field.value.trim();
    close();
    if (written && written !== text) save(written);
  };
  form.addEventListener("submit", keep);
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) keep(event);
    if (event.key === "Escape") close();
    event.stopPropagation();
  });
  node.replaceWith(form);
  field.select();
}
