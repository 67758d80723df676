// A secret with a button that copies it.

import { el } from "../dom.js";

export function copyable(what, text) {
  const button = el("button", { type: "button", "aria-label": `Copy the ${what}`, onclick: async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } }, "Copy");
  return el("p", { class: "secret" }, el("code", {}, text), button);
}
