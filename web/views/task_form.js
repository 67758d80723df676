// The form that changes when a task is due and whose it is.

import { el } from "../dom.js";
import { t } from "../i18n.js";

/** Replaces `node` by the form; `save({due_at, owner, owner_name})` gets what was changed. */
export function editTask(node, task, save) {
  const opener = document.activeElement;
  const due = el("input", { type: "datetime-local", value: localTime(task.due_at) });
  const owner = el("input", { maxlength: "64", placeholder: t("Me"), value: task.owner_name ?? "" });
  const close = () => {
    form.replaceWith(node);
    opener?.focus();
  };
  const form = el("form", { class: "edit" },
    el("label", {}, t("Due"), " ", due), el("label", {}, t("Whose task"), " ", owner),
    el("button", { class: "primary" }, t("Save")), el("button", { type: "button", onclick: close }, t("Cancel")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const name = owner.value.trim();
    const changes = {
      ...(due.value !== localTime(task.due_at) && { due_at: due.value ? new Date(due.value).toISOString() : null }),
      ...(name !== (task.owner_name ?? "") && (name ? { owner: "other", owner_name: name } : { owner: "me" })),
    };
    close();
    if (Object.keys(changes).length) save(changes);
  });
  form.addEventListener("keydown", (event) => event.key === "Escape" && close());
  node.replaceWith(form);
  due.focus();
}

/** An instant as the field shows it, on the clock of the browser, which is the owner's. */
function localTime(iso) {
  if (!iso) return "";
  const time = new Date(iso);
  return new Date(time - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
