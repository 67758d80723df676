// The confirmation of a call: the app, the tool, its arguments, and buttons: once, always, no.

import { attempting, el, find } from "../dom.js";
import { t, tNodes } from "../i18n.js";
import { describeSource, hour, plainly, toolName } from "../words.js";

const RESULTS = {
  approved: t("You confirmed this."),
  always: t("You allowed this, and all later calls of this tool. You can change that in Apps."),
  refused: t("You refused this: it was not done."),
  expired: t("Not confirmed in time: it was not done."),
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

  get #firstOpen() {
    return this.#cards.values().next().value;
  }

  #show(request) {
    const card = cardOf(request, (decision) => this.#answer(request.id, decision));
    this.#cards.set(request.id, card);
    this.node.append(card);
    if (isIdle()) this.#firstOpen.focus();
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
    if (hadFocus) (this.#firstOpen ?? find("#question")).focus();
  }
}

function cardOf(request, answer) {
  const { tool, source, maker, question, details, reason, allows_always, expires_at } = request;
  const problem = el("p", { class: "problem", role: "alert", hidden: true });
  const attempt = attempting(problem);
  const button = (word, decision, kind) =>
    el("button", { type: "button", class: kind, onclick: () => attempt(() => answer(decision)) }, word);
  const [name, deed] = [plainly(source.name), toolName(tool)];
  const isApp = source.kind === "app";
  const heading = isApp
    ? el("h3", {}, ...tNodes("{app} wants to: {deed}", { app: el("bdi", {}, name), deed: el("bdi", {}, deed) }))
    : el("h3", { dir: "auto" }, plainly(question));
  return el("section", { class: "confirmation", tabindex: "-1", "aria-label": isApp ? t("{app} wants to: {deed}", { app: name, deed }) : plainly(question) },
    heading,
    el("p", { class: "meta" }, ...describeSource(source, maker)),
    (isApp || details.length > 0) && parameters(details),
    el("p", {}, REASONS[reason]),
    problem,
    el("div", { class: "choice" },
      button(t("Once"), { approved: true }, "primary"),
      allows_always && button(t("Always"), { approved: true, always: true }),
      button(t("No"), { approved: false }),
      el("span", { class: "meta" }, t("until {time}", { time: hour(expires_at) }))));
}

const REASONS = {
  sensitive: t("It asks each time, because of what it does."),
  first_use: t("You have not allowed it yet."),
  new_tool: t("The app added it after you installed the app."),
  changed_tool: t("The app changed it after you allowed it."),
  disclosure: t("It would tell its maker more than you wrote in this message."),
  private_text: t("It contains a number or a secret that you did not write in this message."),
  foreign_words: t("It would write what you did not say yourself in this chat."),
};

// Each line holds one thing that the call tells, or goes on with the one above, indented.
function parameters(lines) {
  if (!lines.length) return el("p", {}, t("It is told nothing else."));
  const fields = [];
  for (const line of lines) {
    if (line.startsWith("    ")) fields.at(-1)[1] += `\n${line.slice(4)}`;
    else fields.push([line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)]);
  }
  return el("dl", {}, ...fields.flatMap(([name, value]) => [el("dt", { dir: "auto" }, toolName(name)), el("dd", { dir: "auto" }, plainly(value))]));
}

// The card takes the focus only from an empty question: an Enter meant for the question must not confirm a call.
function isIdle() {
  const active = document.activeElement;
  return active === document.body || (active === find("#question") && !active.value);
}
