// How the assistant answers: the user's own prompt and reminder, their model, their interests, and how they like to learn.

import { attempting, el, find, onSubmit } from "../dom.js";
import { t } from "../i18n.js";

export function startChatPrompt({ api }) {
  const section = find("#settings-answers");
  const form = find("form", section);
  const attempt = attempting(find(".problem", section));
  const { prompt, reminder, interests, style, results, model } = form.elements;
  const reset = find("[type=button]", form);

  function showPrompt(stored) {
    prompt.value = stored.prompt;
    reminder.value = stored.reminder;
    reset.disabled = stored.is_default;
  }

  function showProfile(profile) {
    interests.value = profile.interests.join("\n");
    style.value = profile.learning_style;
    results.checked = profile.summarises_results;
    model.value = profile.preferred_model;
  }

  function showModels(models) {
    const options = models.map(({ id, name }) => el("option", { value: id, dir: "auto" }, name));
    model.replaceChildren(el("option", { value: "auto" }, t("The best model that takes the question")), ...options);
    model.closest("label").hidden = models.length < 2;
  }

  const tellSaved = () => (find("[role=status]", section).textContent = t("Saved. It holds from your next message on."));

  onSubmit(form, () => attempt(async () => {
    const listed = interests.value.split("\n").map((line) => line.trim()).filter(Boolean);
    showProfile(await api.setProfile({
      interests: listed,
      learning_style: style.value,
      summarises_results: results.checked,
      preferred_model: model.value || undefined, // where roles share a model, the chosen one may not be listed
    }));
    showPrompt(await api.setChatPrompt(prompt.value, reminder.value));
    tellSaved();
  }));
  reset.addEventListener("click", () => attempt(async () => {
    showPrompt(await api.resetChatPrompt());
    tellSaved();
  }));
  // Until what is stored is there, what is typed would be lost, or replace it unseen.
  return { reload: () => attempt(async () => {
    const [stored, profile, { models }] = await Promise.all([api.chatPrompt(), api.profile(), api.chatModels()]);
    showPrompt(stored);
    showModels(models);
    showProfile(profile);
    find("fieldset", form).disabled = false;
  }) };
}
