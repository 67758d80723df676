// The choice of the console's language, on the sign-in screen and in the account.

import { el } from "../dom.js";
import { chooseLanguage, chosenLanguage, LANGUAGES } from "../i18n.js";

export function startLanguageChoice() {
  for (const choice of document.querySelectorAll(".language select")) {
    choice.append(...Object.entries(LANGUAGES).map(([tag, name]) => el("option", { value: tag, lang: tag }, name)));
    choice.value = chosenLanguage();
    choice.addEventListener("change", () => chooseLanguage(choice.value));
  }
}
