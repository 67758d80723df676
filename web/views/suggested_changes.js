// Changes of memories and settings that the last question suggests: a click makes one.

import { attempting, el } from "../dom.js";
import { t } from "../i18n.js";
import { throwAway } from "./throwing_away.js";

/** A group with a button for each change; `actions` are those of the notes of an answer. */
export function suggestedChanges(api, actions) {
  const problem = el("p", { class: "problem", role: "alert", hidden: true });
  const told = el("p", { class: "hint", role: "status" });
  const attempt = attempting(problem);
  const button = (action) => el("button", { type: "button", class: "chip change", dir: "auto", onclick: ({ currentTarget }) => attempt(async () => {
    await make(api, action, () => {
      told.textContent = t("Saved.");
      currentTarget.remove();
    });
  }) }, describe(action));
  return el("div", { role: "group", class: "suggested-changes", "aria-label": t("Suggested changes") }, ...actions.map(button), told, problem);
}

function describe({ tool, arguments: values, entry_text: before }) {
  if (tool === "remember") return t("Remember “{text}”", { text: values.content });
  if (tool === "update_memory") return t("Change “{before}” to “{text}”", { before, text: values.content });
  if (tool === "delete_memory") return t("Forget “{text}”", { text: before });
  const [[setting, value]] = Object.entries(values);
  return SETTINGS[setting](setting === "interests" ? value.join(", ") : value);
}

const SETTINGS = {
  name: (value) => t("Set your name to “{value}”", { value }),
  language: (value) => t("Set your language to “{value}”", { value }),
  time_zone: (value) => t("Set your time zone to “{value}”", { value }),
  learning_style: (value) => t("Set how you like to learn to “{value}”", { value }),
  interests: (value) => t("Add “{value}” to your interests", { value }),
};

async function make(api, { tool, arguments: values, entry_id: id, entry_text: title }, onDone) {
  if (tool === "delete_memory") return throwAway(api, "memories", { id, title }, onDone, () => {});
  await change(api, tool, values, id);
  onDone();
}

async function change(api, tool, values, id) {
  if (tool === "remember") return api.addMemory(values.content);
  if (tool === "update_memory") return api.editMemory(id, values.content);
  if (!values.interests) return api.setProfile(values);
  const { interests } = await api.profile();
  return api.setProfile({ interests: [...interests, ...values.interests] });
}
