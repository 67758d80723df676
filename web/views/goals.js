// Goals: what the user wants to reach, how far they are, and what they have finished.

import { el, find, iconButton, moveTo, onSubmit } from "../dom.js";
import { formatNumber, t } from "../i18n.js";
import { editGoal } from "./goal_form.js";
import { listing } from "./listing.js";

const MAX_ACTIVE = 4; // a further one takes the place of the oldest

export function startGoals({ api }) {
  const view = find("#goals");
  const form = find("form", view);
  const status = find("[role=status]", view);
  const full = find(".full", view);
  let active = [];
  const { reload, attempt } = listing(view, { page: async () => {
    active = await api.goals();
    full.hidden = active.length < MAX_ACTIVE;
    return { items: active, next: null };
  }, row });

  const change = (goal, changes, focus = true) => attempt(async () => {
    status.replaceChildren();
    await api.changeGoal(goal.id, changes);
    await reload();
    if (focus) moveTo(find(`[data-id="${CSS.escape(goal.id)}"]`, view));
  });

  function row(goal) {
    const title = el("span", { class: "content", dir: "auto" }, goal.title);
    return el("li", { "data-id": goal.id }, title,
      el("div", { class: "tools" },
        iconButton("pen", t("Edit: {title}", { title: goal.title }), () => editGoal(title, goal, (changes) => change(goal, changes))),
        iconButton("done", t("Finish: {title}", { title: goal.title }), () => finish(goal)),
        iconButton("bin", t("Delete: {title}", { title: goal.title }), () => remove(goal))),
      progress(goal));
  }

  function progress(goal) {
    const { id, title, current_value: value, target_value: target, min_value: least } = goal;
    const field = el("input", { type: "number", step: "any", value, "aria-label": t("How far: {title}", { title }) });
    const save = el("form", { class: "reached" }, field,
      el("span", { class: "meta" }, reached(goal)), el("button", {}, t("Save")));
    onSubmit(save, () => field.value !== "" && attempt(async () => {
      await api.recordGoal(id, Number(field.value));
      await reload();
      find(`[data-id="${CSS.escape(id)}"] .reached input`, view)?.focus();
    }));
    return el("div", { class: "wide" },
      el("meter", { min: Math.min(least, target), max: Math.max(least, target), value, "aria-label": t("Progress: {title}", { title }) }), save);
  }

  async function finish(goal) {
    await change(goal, { is_active: false }, false);
    status.replaceChildren(`${t("Finished: {title}", { title: goal.title })} `,
      el("button", { type: "button", class: "quiet", onclick: () => change(goal, { is_active: true }) }, t("Undo")));
    find("button", status).focus();
  }

  function remove(goal) {
    if (!confirm(t("Delete “{title}” with its history?", { title: goal.title }))) return;
    attempt(async () => {
      await api.deleteGoal(goal.id);
      await reload();
    });
  }

  onSubmit(form, () => {
    const { title, target, unit } = form.elements;
    const name = title.value.trim();
    if (!name) return;
    const last = active.at(-1);
    if (active.length >= MAX_ACTIVE && !confirm(t("You have four goals. “{title}” ends for this one.", { title: last.title }))) return;
    const whole = Number(target.value || 1);
    return attempt(async () => {
      await api.addGoal({ title: name, goal_type: target.value ? "numeric" : "boolean", target_value: whole, max_value: Math.max(whole, 0), min_value: Math.min(whole, 0), unit: unit.value.trim() || null });
      form.reset();
      await reload();
    });
  });
  return { reload };
}

const reached = ({ target_value: target, unit }) => t("of {target}", { target: [formatNumber(target), unit].filter(Boolean).join(" ") });
