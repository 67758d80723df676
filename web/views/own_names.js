// The names by which transcripts call the user: whoever bears one of them is the user in every conversation.

import { attempting, el, find, iconButton, onSubmit } from "../dom.js";
import { t } from "../i18n.js";

export function startOwnNames({ api }) {
  const section = find("#own-names");
  const field = find("input", section);
  const attempt = attempting(find(".problem", section));
  let names = [];

  const show = (profile) => {
    names = profile.own_names;
    field.disabled = false;
    find("ul", section).replaceChildren(...names.map((name) => el("li", {}, el("span", { class: "content", dir: "auto" }, name),
      el("div", { class: "tools" }, iconButton("bin", t("{name} is not me", { name }), () => store(names.filter((other) => other !== name)))))));
  };
  const store = (changed) => attempt(async () => {
    show(await api.setOwnNames(changed));
    find("[role=status]", section).textContent = t("Saved. Your conversations follow in a moment.");
  });
  onSubmit(find("form", section), async () => {
    const name = field.value.trim();
    if (!name) return;
    await store([...names, name]);
    field.value = "";
  });
  return { reload: () => attempt(async () => show(await api.profile())) };
}
