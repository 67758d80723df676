// A call that waits for its owner's word: who wants to do what with which words, and two buttons.

import { attempting, el, find } from "../dom.js";
import { hour, plainly, toolName } from "../words.js";

const BECAME = {
  approved: "You confirmed this.",
  refused: "You refused this: it was not done.",
  expired: "Not confirmed in time: it was not done.",
};

/** The calls one answer asked about; each shows once, with what became of it. */
export class Confirmations {
  node = el("div", { class: "confirmations", "aria-live": "polite" });
  #api;
  #run = null;
  #cards = new Map();

  constructor(api) {
    this.#api = api;
  }

  /** Shows what concerns it of the chunks of a stream. */
  take({ type, messageId, data }) {
    if (type === "start") this.#run = messageId;
    if (type !== "data-confirmation") return;
    if (data.state === "asked") this.#ask(data);
    else this.#settle(data.id, data.state);
  }

  /** Nothing waits any more: the answer has ended. */
  end() {
    for (const id of this.#cards.keys()) this.#settle(id, "expired");
  }

  clear() {
    this.#cards.clear();
    this.node.replaceChildren();
  }

  #ask(asked) {
    const card = cardOf(asked, (approved) => this.#answer(asked.id, approved));
    this.#cards.set(asked.id, card);
    this.node.append(card);
    if (isIdle()) card.focus();
  }

  async #answer(id, approved) {
    const { state } = await this.#api.confirm(this.#run, id, approved);
    this.#settle(id, state);
  }

  #settle(id, state) {
    const card = this.#cards.get(id);
    if (!card) return;
    this.#cards.delete(id);
    const hadFocus = card.contains(document.activeElement);
    find(".choice", card).replaceWith(el("p", { class: `became ${state}` }, BECAME[state]));
    if (hadFocus) find("#question").focus();
  }
}

function cardOf({ tool, source, arguments: given, reason, argument, expires_at }, answer) {
  const problem = el("p", { class: "problem", role: "alert", hidden: true });
  const attempt = attempting(problem);
  const button = (word, approved) =>
    el("button", { type: "button", class: approved && "primary", onclick: () => attempt(() => answer(approved)) }, word);
  const wish = plainly(`${source.name} wants to: ${toolName(tool)}`);
  return el("section", { class: "confirmation", tabindex: "-1", "aria-label": wish },
    el("h3", {}, wish),
    el("p", {}, why(reason, argument)),
    el("dl", {}, ...Object.entries(named(given)).flatMap(([name, value]) => [el("dt", {}, plainly(name)), el("dd", {}, plainly(written(value)))])),
    problem,
    el("div", { class: "choice" }, button("Confirm", true), button("Refuse", false), el("span", { class: "meta" }, `until ${hour(expires_at)}`)));
}

const why = (reason, argument) =>
  reason === "not_said" ? `What it would send as “${plainly(argument)}” is not from you.` : "You did not ask for it in so many words.";
const named = (given) => (given !== null && typeof given === "object" ? given : { arguments: given });
const written = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

// Whoever is writing is not interrupted, nor led to confirm by the Enter that was meant for the question.
function isIdle() {
  const active = document.activeElement;
  return active === document.body || (active === find("#question") && !active.value);
}
