// The confirmation of a call: the app, the tool, its arguments, and buttons: once, always, no.

import { attempting, el, find } from "../dom.js";
import { hour, plainly, toolName } from "../words.js";

const RESULTS = {
  approved: "You confirmed this.",
  always: "You allowed this, and all later calls of this tool.",
  refused: "You refused this: it was not done.",
  expired: "Not confirmed in time: it was not done.",
};

/** The confirmations of one answer; each card shows its question, then its result. */
export class Confirmations {
  node = el("div", { class: "confirmations", "aria-live": "polite" });
  #api;
  #run = null;
  #cards = new Map();

  constructor(api) {
    this.#api = api;
  }

  /** Takes a chunk of the stream; ignores those that concern no confirmation. */
  take({ type, messageId, data }) {
    if (type === "start") this.#run = messageId;
    if (type !== "data-confirmation") return;
    if (data.state === "asked") this.#show(data);
    else this.#resolve(data.id, data.state);
  }

  /** Closes open questions: the answer has ended. */
  end() {
    for (const id of this.#cards.keys()) this.#resolve(id, "expired");
  }

  clear() {
    this.#cards.clear();
    this.node.replaceChildren();
  }

  #show(request) {
    const card = cardOf(request, (decision) => this.#answer(request.id, decision));
    this.#cards.set(request.id, card);
    this.node.append(card);
    if (isIdle()) card.focus();
  }

  async #answer(id, decision) {
    const { state } = await this.#api.confirm(this.#run, id, decision);
    this.#resolve(id, state);
  }

  #resolve(id, state) {
    const card = this.#cards.get(id);
    if (!card) return;
    this.#cards.delete(id);
    const hadFocus = card.contains(document.activeElement);
    find(".choice", card).replaceWith(el("p", { class: `result ${state}` }, RESULTS[state]));
    if (hadFocus) find("#question").focus();
  }
}

function cardOf({ tool, source, maker, arguments: parameters, reason, allows_always, expires_at }, answer) {
  const problem = el("p", { class: "problem", role: "alert", hidden: true });
  const attempt = attempting(problem);
  const button = (word, decision, kind) =>
    el("button", { type: "button", class: kind, onclick: () => attempt(() => answer(decision)) }, word);
  const request = plainly(`${source.name} wants to: ${toolName(tool)}`);
  return el("section", { class: "confirmation", tabindex: "-1", "aria-label": request },
    el("h3", {}, request),
    el("p", {}, REASONS[reason]),
    el("p", { class: "meta" }, plainly(`${source.kind} ${source.id}, ${maker}`)),
    el("dl", {}, ...Object.entries(toFields(parameters)).flatMap(([name, value]) => [el("dt", {}, plainly(name)), el("dd", {}, plainly(toText(value)))])),
    problem,
    el("div", { class: "choice" }, button("Once", { approved: true }, "primary"),
      allows_always && button("Always", { approved: true, always: true }), button("No", { approved: false }), el("span", { class: "meta" }, `until ${hour(expires_at)}`)));
}

const REASONS = {
  sensitive: "This kind of call asks each time.",
  first_use: "You have not allowed this tool yet.",
  new_tool: "The app added this tool after you installed it.",
  changed_tool: "The app changed this tool after you allowed it.",
  disclosure: "It would tell its maker more than you wrote in your message.",
  private_text: "It contains a number or a secret that you did not write in your message.",
};
const toFields = (value) => (value !== null && typeof value === "object" ? value : { arguments: value });
const toText = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

// The card takes the focus only from an empty question: an Enter meant for the question must not confirm a call.
function isIdle() {
  const active = document.activeElement;
  return active === document.body || (active === find("#question") && !active.value);
}
