// A secret with a button that copies it; `label` is the name of the button.

import { el } from "../dom.js";
import { t } from "../i18n.js";

export function copyable(label, text) {
  const button = el("button", { type: "button", "aria-label": label, onclick: async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = t("Copied");
  } }, t("Copy"));
  return el("p", { class: "secret" }, el("code", {}, text), button);
}
