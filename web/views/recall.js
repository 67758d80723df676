// What answers do with memories, and the way to forget them all by typed words.

import { attempting, find, onSubmit, say } from "../dom.js";
import { t } from "../i18n.js";

/** Returns `{reload}`; `onWiped()` is called once all memories are gone. */
export function startRecall({ api, onWiped }) {
  const section = find("#recall");
  const form = find("form", section);
  const line = find(".problem", section);
  const status = find("[role=status]", section);
  const attempt = attempting(line);
  const switches = [...section.querySelectorAll("[type=checkbox]")];
  const words = t("delete everything");
  let changes = 0; // a profile that was read before one shows what was
  find("label", form).textContent = t("Type “{words}” to confirm", { words });

  function show(profile) {
    for (const one of switches) {
      one.checked = profile[one.name];
      one.disabled = false;
    }
    for (const name of ["volunteers_memories", "recalls_chats"]) find(`[name=${name}]`, section).disabled = !profile.recalls_memories;
  }

  for (const one of switches) {
    one.addEventListener("change", () => attempt(async () => {
      changes += 1;
      show(await api.setProfile({ [one.name]: one.checked }));
      status.textContent = t("Saved.");
    }));
  }

  onSubmit(form, () => {
    if (find("input", form).value.trim().toLowerCase() !== words.toLowerCase()) return say(line, t("Type “{words}” to confirm", { words }));
    return attempt(async () => {
      await api.deleteAllMemories();
      form.reset();
      await onWiped();
      status.textContent = t("Everything is forgotten.");
    });
  });
  const reload = () => attempt(async () => {
    const seen = changes;
    const profile = await api.profile();
    if (seen === changes) show(profile);
  });
  return { reload };
}
