// The form that changes what a goal is.

import { el } from "../dom.js";
import { t } from "../i18n.js";

/** Replaces `node` by the form; `save({title, target_value, …})` gets the changed goal. */
export function editGoal(node, goal, save) {
  const opener = document.activeElement;
  const title = el("input", { required: true, maxlength: "200", dir: "auto", value: goal.title });
  const target = el("input", { type: "number", step: "any", required: true, value: goal.target_value });
  const unit = el("input", { maxlength: "40", dir: "auto", value: goal.unit ?? "" });
  const close = () => {
    form.replaceWith(node);
    opener?.focus();
  };
  const form = el("form", { class: "edit" },
    el("label", {}, t("Goal"), " ", title), el("label", {}, t("Target"), " ", target), el("label", {}, t("Unit"), " ", unit),
    el("button", { class: "primary" }, t("Save")), el("button", { type: "button", onclick: close }, t("Cancel")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const whole = Number(target.value);
    close();
    save({
      title: title.value.trim(), target_value: whole, unit: unit.value.trim(),
      min_value: Math.min(goal.min_value, whole), max_value: Math.max(goal.max_value, whole),
    });
  });
  form.addEventListener("keydown", (event) => event.key === "Escape" && close());
  node.replaceWith(form);
  title.select();
}
