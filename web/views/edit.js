// Editing in place: a field replaces the text; Enter saves, Escape cancels.

import { el } from "../dom.js";

/** Replaces `node` by a field; calls `save(text)` if the text changed and is not empty. */
export function edit(node, { label, text, long = false, maxlength = long ? 1000 : 200 }, save) {
  const opener = document.activeElement;
  const field = el(long ? "textarea" : "input", { "aria-label": label, maxlength });
  const form = el("form", { class: "edit" }, field);
  let open = true;
  field.value = text;

  const close = () => {
    if (!open) return;
    open = false;
    form.replaceWith(node);
    opener?.focus();
  };
  const submit = (event) => {
    event?.preventDefault();
    const edited = field.value.trim();
    close();
    if (edited && edited !== text) save(edited);
  };
  form.addEventListener("submit", submit);
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
    if (event.key === "Escape") close();
    event.stopPropagation();
  });
  node.replaceWith(form);
  field.select();
}
