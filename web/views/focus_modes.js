// Focus modes: what the assistant keeps to in a chat while one is on.

import { el, find, iconButton, onSubmit } from "../dom.js";
import { t } from "../i18n.js";
import { edit } from "./edit.js";
import { listing } from "./listing.js";
import { removeLater } from "./throwing_away.js";

/** Returns `{reload}`. */
export function startFocusModes({ api }) {
  const view = find("#focus-modes");
  const form = find("form", view);
  const { reload, attempt } = listing(view, { page: async () => ({ items: await api.focusModes(), next: null }), row });

  const change = (act) => attempt(async () => {
    await act();
    await reload();
  });

  function row({ id, name, instructions }) {
    const text = el("span", { class: "content", dir: "auto" }, instructions);
    return el("li", { "data-id": id }, el("div", {}, el("b", { dir: "auto" }, name), el("br"), text),
      el("div", { class: "tools" },
        iconButton("pen", t("Edit: {title}", { title: name }), () => edit(text, { label: name, text: instructions, long: true }, (changed) => change(() => api.changeFocusMode(id, { instructions: changed })))),
        iconButton("bin", t("Delete {name}", { name }), () => removeLater({ id, title: name }, api.deleteFocusMode, reload))));
  }

  onSubmit(form, () => change(async () => {
    const { name, instructions } = form.elements;
    await api.addFocusMode({ name: name.value.trim(), instructions: instructions.value.trim() });
    form.reset();
  }));
  return { reload };
}
