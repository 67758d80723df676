// Suggested questions: what the library can answer, as buttons in a chat without questions.

import { el, find } from "../dom.js";

/** Returns `{show(), hide()}`; `ask(text)` asks the question that was chosen. */
export function startSuggestions({ api, ask }) {
  const place = find("#suggestions");
  let requested = 0;

  async function show() {
    const request = (requested += 1);
    const { questions, hint } = await api.suggestedQuestions().catch(() => ({ questions: [], hint: null }));
    if (request !== requested) return;
    const chips = questions.map((text) => el("button", { type: "button", class: "chip", lang: "en", onclick: () => ask(text) }, text));
    place.replaceChildren(...(hint ? [el("p", { class: "hint", lang: "en" }, hint)] : chips));
    place.hidden = !place.children.length;
  }

  function hide() {
    requested += 1;
    place.hidden = true;
  }

  return { show, hide };
}
