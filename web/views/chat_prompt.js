// How the assistant answers: the user's own prompt and reminder, their interests, and how they like to learn.

import { attempting, find, onSubmit } from "../dom.js";
import { t } from "../i18n.js";

export function startChatPrompt({ api }) {
  const section = find("#settings-answers");
  const form = find("form", section);
  const attempt = attempting(find(".problem", section));
  const { prompt, reminder, interests, style, results } = form.elements;
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
  }

  const tellSaved = () => (find("[role=status]", section).textContent = t("Saved. It holds from your next message on."));

  onSubmit(form, () => attempt(async () => {
    const listed = interests.value.split("\n").map((line) => line.trim()).filter(Boolean);
    showProfile(await api.setProfile({
      interests: listed,
      learning_style: style.value,
      summarises_results: results.checked,
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
    const [stored, profile] = await Promise.all([api.chatPrompt(), api.profile()]);
    showPrompt(stored);
    showProfile(profile);
    find("fieldset", form).disabled = false;
  }) };
}
