// Pairing: a code that this browser shows for another, and one that it takes.

import { attempting, el, find, onSubmit } from "../dom.js";
import { Problem } from "../http.js";
import { t } from "../i18n.js";
import { makeCode, parseWords, toWords } from "../sealed/code_words.js";
import { fromBase64, toBase64 } from "../sealed/encryption.js";
import { addKeys, derivePairing, loadKeys, wrapKeys } from "../sealed/keys.js";
import { copyable } from "./copyable.js";

/** Returns `{show(isShown)}`; `onPaired()` is called when this browser got keys. */
export function startPairing({ api, uid, onPaired }) {
  const view = find("#pairing");
  const form = find("form", view);
  const result = find(".result", view);
  const shownCode = find(".code", view);
  const attempt = attempting(find(".problem", view));

  async function show(isShown) {
    view.hidden = !isShown;
    shownCode.replaceChildren();
    result.textContent = "";
    await showKey();
  }

  async function showKey() {
    const hasKey = (await loadKeys(uid)).length > 0;
    for (const node of view.querySelectorAll(".has-key")) node.hidden = !hasKey;
    for (const node of view.querySelectorAll(".no-key")) node.hidden = hasKey;
  }

  async function offer() {
    const code = makeCode();
    const { id, key } = await derivePairing(uid, code);
    await api.startPairing(id, toBase64(await wrapKeys(uid, key)));
    shownCode.replaceChildren(
      el("p", { class: "hint" }, t("Sign in to the other browser, switch on “Sealed” there, and enter this code. It works once, within five minutes. Whoever has it and signs in as you can read your sealed chats.")),
      copyable(t("Copy the code"), toWords(code)),
      el("button", { type: "button", class: "quiet", onclick: () => attempt(end) }, t("End this code")));
  }

  async function end() {
    await api.endPairing();
    shownCode.replaceChildren();
    find(".offer", view).focus();
  }

  async function accept() {
    const code = parseWords(find("input", form).value);
    if (!code) throw new Problem(t("This is no code: a code has eight words of five letters."));
    const { id, key } = await derivePairing(uid, code);
    await addKeys(uid, fromBase64((await api.takePairing(id)).wrapped_keys), key);
    form.reset();
    result.textContent = t("Paired: this browser can read your sealed chats.");
    api.forgetSealedList();
    await showKey();
    onPaired();
  }

  find(".offer", view).addEventListener("click", () => attempt(offer));
  onSubmit(form, () => attempt(accept));
  return { show };
}
