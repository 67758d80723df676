// Goals: what the user wants to reach, how far they are, and what they have finished.

import { el, find, iconButton, moveTo, onSubmit } from "../dom.js";
import { formatNumber, t } from "../i18n.js";
import { editGoal } from "./goal_form.js";
import { listing } from "./listing.js";
import { offerUndo, remains, removeLater, settle } from "./throwing_away.js";

const MAX_ACTIVE = 4; // a further one takes the place of the oldest

export function startGoals({ api }) {
  const view = find("#goals");
  const form = find("form", view);
  const full = find(".full", view);
  let active = [];
  const { reload, attempt } = listing(view, { page: async () => {
    active = (await api.goals()).filter(remains);
    full.hidden = active.length < MAX_ACTIVE;
    return { items: active, next: null };
  }, row });

  const change = (goal, changes, focus = true) => attempt(async () => {
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
        iconButton("bin", t("Delete: {title}", { title: goal.title }), () => removeLater(goal, api.deleteGoal, reload))),
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
    offerUndo(t("Finished: {title}", { title: goal.title }), () => change(goal, { is_active: true }));
  }

  onSubmit(form, () => {
    const { title, target, unit } = form.elements;
    const name = title.value.trim();
    if (!name) return;
    const replaced = active.length >= MAX_ACTIVE && active.at(-1);
    const whole = Number(target.value || 1);
    return attempt(async () => {
      await settle(); // what is deleted leaves its place
      const { id } = await api.addGoal({ title: name, goal_type: target.value ? "numeric" : "boolean", target_value: whole, max_value: Math.max(whole, 0), min_value: Math.min(whole, 0), unit: unit.value.trim() || null });
      form.reset();
      await reload();
      if (replaced) offerUndo(t("Finished: {title}", { title: replaced.title }), async () => {
        await api.deleteGoal(id);
        await change(replaced, { is_active: true });
      });
    });
  });
  return { reload };
}

const reached = ({ target_value: target, unit }) => t("of {target}", { target: [formatNumber(target), unit].filter(Boolean).join(" ") });
