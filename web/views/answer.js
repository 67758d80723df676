// One answer: its status and words while it streams, its sources and buttons once it is done.

import { el } from "../dom.js";
import { marker, render } from "../markdown.js";
import { day } from "../words.js";
import { feedback } from "./feedback.js";

const OFFLINE = "offline-extractive";

export class Answer {
  #text = "";
  #frame = 0;
  #status = el("p", { class: "status", role: "status" }, "Thinking");
  #prose = el("div", { class: "prose" });
  #foot = el("footer");
  #tools;

  /** `question` is what it answers, empty for a greeting. */
  constructor({ api, read, question }) {
    this.#tools = { api, read, question };
    this.node = el("article", { class: "message ai", "aria-label": "Keepsake", "aria-busy": "true" },
      this.#status, this.#prose, this.#foot);
  }

  /** Shows the next frame of the stream. */
  take(frame) {
    if (frame.kind === "think") this.#status.textContent = frame.status;
    if (frame.kind === "data") this.#append(frame.text);
    if (frame.kind === "done") this.finish(frame.message);
  }

  /** Shows the whole message as it is stored. */
  finish(message) {
    const cards = message.memories ?? [];
    this.#settle();
    this.#text = message.text;
    this.#prose.replaceChildren(
      render(message.metadata?.marked_text ?? message.text, (n) => this.#marker(n, message)));
    this.#foot.replaceChildren(...this.#sources(cards), this.#actions(message));
  }

  /** Keeps the words that came, if any did: there will be no more. */
  breakOff() {
    this.#settle();
    this.#prose.replaceChildren(render(this.#text));
    if (!this.#text) this.node.remove();
  }

  get isOpen() {
    return this.node.hasAttribute("aria-busy");
  }

  #settle() {
    cancelAnimationFrame(this.#frame);
    this.#status.remove();
    this.node.removeAttribute("aria-busy");
  }

  // Words arrive faster than a screen shows them: one rendering per painted frame is enough.
  #append(text) {
    this.#text += text;
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#status.remove();
      this.#prose.replaceChildren(render(this.#text));
    });
  }

  #open(id) {
    this.#tools.read(id, { question: this.#tools.question, answer: this.#text });
  }

  // More may be cited than there are cards.
  #marker(n, { memories_id: ids = [], memories: cards = [] }) {
    const id = ids[n - 1];
    return id ? marker(n, cards[n - 1]?.structured.title ?? "", () => this.#open(id)) : null;
  }

  #sources(cards) {
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

  // A greeting answers nothing and a refusal is not stored: there is nothing to judge.
  #actions(message) {
    const judged = this.#tools.question && message.metadata?.outcome !== "refused";
    return el("div", { class: "actions" },
      ...(judged ? feedback(this.#tools.api, message, this.#attempt) : []),
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
