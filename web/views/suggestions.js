// Suggested questions as buttons above the question: how to begin a chat, and how to go on from its last answer.

import { el, find } from "../dom.js";

const POLLS_MS = [500, 1500, 3000, 6000]; // what follows an answer is made after it

/**
 * Returns `{show(), follow(answer), hide()}`: questions to begin with, or those that follow the answer of an id. `ask(text)`
 * asks the question that was chosen, `onNoted(chat)` is told how the chat is noted then.
 */
export function startSuggestions({ api, ask, onNoted }) {
  const place = find("#suggestions");
  let requested = 0;

  const chip = (text, lang) => el("button", { type: "button", class: "chip", lang, dir: "auto", onclick: () => ask(text) }, text);

  async function show() {
    const request = (requested += 1);
    const [{ questions, hint }, { suggestions }] = await Promise.all([
      api.suggestedQuestions().catch(() => ({ questions: [], hint: null })),
      api.chatSuggestions().catch(() => ({ suggestions: [] })),
    ]);
    if (request !== requested) return;
    const chips = [...questions.map((text) => chip(text, "en")), ...suggestions.map((text) => chip(text))];
    fill(...(hint && !suggestions.length ? [el("p", { class: "hint", lang: "en" }, hint)] : chips));
  }

  async function follow(answer) {
    const request = (requested += 1);
    const notes = await poll(answer, () => request === requested);
    if (!notes) return;
    onNoted(notes.chat);
    fill(...[...notes.next_steps, ...notes.follow_ups].map((text) => chip(text, notes.chat.language)));
    if (!notes.actions.length) return;
    const { suggestedChanges } = await import("./suggested_changes.js");
    if (request !== requested) return;
    fill(suggestedChanges(api, notes.actions), ...place.children);
  }

  async function poll(answer, isWanted) {
    for (const pause of [0, ...POLLS_MS]) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      if (!isWanted()) return null;
      const notes = await api.notes(answer).catch(() => null);
      if (notes) return isWanted() ? notes : null;
    }
    return null;
  }

  function fill(...nodes) {
    place.replaceChildren(...nodes);
    place.hidden = !nodes.length;
  }

  function hide() {
    requested += 1;
    place.hidden = true;
  }

  return { show, follow, hide };
}
