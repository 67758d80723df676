// Editing in place: a field replaces the text; Enter saves, and so does leaving it; Escape cancels.

import { el } from "../dom.js";

/** Replaces `node` by a field; calls `save(text)` if the text changed, and is not empty unless that `clears` it. */
export function edit(node, { label, text, clears = false, placeholder, long = false, maxlength = long ? 1000 : 200 }, save) {
  const opener = document.activeElement;
  const field = el(long ? "textarea" : "input", { "aria-label": label, placeholder, maxlength });
  const form = el("form", { class: "edit" }, field);
  let open = true;
  field.value = text;

  const close = () => {
    open = false;
    form.replaceWith(node);
  };
  const finish = () => {
    if (!open) return;
    close();
    const edited = field.value.trim();
    if ((edited || clears) && edited !== text) save(edited);
  };
  const submit = (event) => {
    event.preventDefault();
    finish();
    opener?.focus();
  };
  const cancel = () => {
    close();
    opener?.focus();
  };
  form.addEventListener("submit", submit);
  field.addEventListener("blur", () => document.hasFocus() && finish()); // another window may have what is to be copied
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
    if (event.key === "Escape") cancel();
    event.stopPropagation();
  });
  node.replaceWith(form);
  field.select();
}
