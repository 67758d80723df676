// One answer: its status and text while it streams, its sources and buttons once it is done.

import { el, linkOut } from "../dom.js";
import { marker, render } from "../markdown.js";
import { day } from "../words.js";
import { changes } from "./changes.js";
import { Confirmations } from "./confirmation.js";
import { diagnostics } from "./diagnostics.js";
import { feedback } from "./feedback.js";
import { Steps } from "./steps.js";

const OFFLINE = "offline-extractive";
const ENDED_EARLY = {
  stopped: "Stopped.",
  interrupted: "This answer was interrupted.",
  failed: "This answer failed.",
};

export class Answer {
  #text = "";
  #frame = 0;
  #sources = [];
  #status = el("p", { class: "status", role: "status" }, "Thinking");
  #steps = new Steps();
  #prose = el("div", { class: "prose" });
  #connect = el("div", { class: "connect" });
  #confirmations;
  #foot = el("footer");
  #tools;

  /** `question` is the question it answers, empty for a greeting; `retry()` asks it again. */
  constructor({ api, read, question, retry }) {
    this.#tools = { api, read, question, retry };
    this.#confirmations = new Confirmations(api);
    this.node = el("article", { class: "message ai", "aria-label": "Keepsake", "aria-busy": "true" },
      this.#status, this.#steps.node, this.#prose, this.#connect, this.#confirmations.node, this.#foot);
  }

  /** Shows the next chunk of the stream. */
  take(chunk) {
    this.#steps.take(chunk);
    this.#confirmations.take(chunk);
    if (chunk.type === "data-connect") this.#offerConnection(chunk.data);
    if (chunk.type === "data-confirmation") this.#showStatus(chunk.data.state === "asked" ? "Waiting for your answer" : "Continuing");
    if (chunk.type === "waiting") this.#showStatus("No connection. Trying again…");
    if (chunk.type === "restart") this.#restart();
    if (chunk.type === "data-status") this.#showStatus(chunk.data.text);
    if (chunk.type === "source-document") this.#sources[chunk.providerMetadata.keepsake.number - 1] = chunk;
    if (chunk.type === "text-delta") this.#append(chunk.delta);
    if (chunk.type === "data-message") this.finish(chunk.data);
  }

  /** Shows the whole message as it is stored. */
  finish(message) {
    const cards = message.memories ?? [];
    this.#hideStatus();
    this.#confirmations.end();
    this.node.dataset.id = message.id;
    this.#text = message.text;
    this.#prose.replaceChildren(
      render(message.metadata?.marked_text ?? message.text, (n) => this.#marker(n, message)));
    this.#foot.replaceChildren(...this.#note(message), ...changes(this.#tools.api, message, this.#attempt), ...this.#cards(cards), this.#actions(message),
      ...(this.#tools.question ? [diagnostics(this.#tools.api, message.id)] : []));
  }

  #showStatus(text) {
    this.#status.textContent = text;
    this.#status.hidden = false;
  }

  #offerConnection({ url, name }) {
    this.#connect.append(el("p", {}, linkOut(url, `Connect your account at ${name ?? "the service"}`)));
  }

  #restart() {
    this.#text = "";
    this.#steps.clear();
    this.#confirmations.clear();
    this.#connect.replaceChildren();
    this.#prose.replaceChildren();
    this.#showStatus("Thinking");
  }

  #hideStatus() {
    cancelAnimationFrame(this.#frame);
    this.#status.remove();
    this.node.removeAttribute("aria-busy");
  }

  // Words arrive faster than a screen shows them: one rendering per painted frame is enough.
  #append(text) {
    this.#text += text;
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#status.hidden = true;
      this.#prose.replaceChildren(render(this.#text, (n) => this.#streamedMarker(n)));
    });
  }

  #open(id) {
    this.#tools.read(id, { question: this.#tools.question, answer: this.#text });
  }

  #streamedMarker(n) {
    const source = this.#sources[n - 1];
    return source ? marker(n, source.title, () => this.#open(source.sourceId)) : null;
  }

  // More may be cited than there are cards.
  #marker(n, { memories_id: ids = [], memories: cards = [] }) {
    const id = ids[n - 1];
    return id ? marker(n, cards[n - 1]?.structured.title ?? "", () => this.#open(id)) : null;
  }

  #note({ metadata }) {
    const note = ENDED_EARLY[metadata?.outcome];
    if (!note || !this.#tools.question) return [];
    return [el("p", { class: "ended", role: "status" }, note,
      el("button", { type: "button", onclick: this.#tools.retry }, "Try again"))];
  }

  #cards(cards) {
    if (!cards.length) return [];
    const items = cards.map((card, at) => el("li", {}, this.#card(card, at + 1)));
    return [el("ol", { class: "sources", "aria-label": "Sources" }, ...items)];
  }

  #card(card, n) {
    return el("button", { type: "button", class: "source", onclick: () => this.#open(card.id) },
      el("span", { class: "number" }, String(n)),
      el("span", { class: "emoji", "aria-hidden": "true" }, card.structured.emoji),
      el("span", { class: "title" }, card.structured.title || "Untitled conversation"),
      el("span", { class: "meta" }, day(card.created_at)));
  }

  // A greeting answers no question and a refusal is not stored, so neither can be rated.
  #actions(message) {
    const isRatable = this.#tools.question && message.metadata?.outcome !== "refused";
    return el("div", { class: "actions" },
      ...(isRatable ? feedback(this.#tools.api, message, this.#attempt) : []),
      message.metadata?.model === OFFLINE && el("span", { class: "badge",
        title: "No language model is configured: the answer quotes the best passages." }, "offline model"));
  }

  #attempt = async (act) => {
    try {
      await act();
    } catch (problem) {
      this.#foot.append(el("p", { class: "problem", role: "alert" }, problem.message));
    }
  };
}
