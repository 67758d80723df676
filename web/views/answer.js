// One answer: its status and words while it streams, its sources and buttons once it is done.

import { el, iconButton } from "../dom.js";
import { marker, render } from "../markdown.js";
import { day } from "../words.js";

const OFFLINE = "offline-extractive";

export class Answer {
  #text = "";
  #frame = 0;
  #status = el("p", { class: "status", role: "status" }, "Thinking");
  #prose = el("div", { class: "prose" });
  #foot = el("footer");
  #tools;

  /** `about` is the question, by which a cited conversation marks its passages. */
  constructor({ api, read, about }) {
    this.#tools = { api, read, about };
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
    cancelAnimationFrame(this.#frame);
    this.#status.remove();
    this.#prose.replaceChildren(
      render(message.metadata?.marked_text ?? message.text, (n) => this.#marker(n, cards[n - 1])));
    this.#foot.replaceChildren(...this.#sources(cards), this.#actions(message));
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

  #open = (card) => this.#tools.read(card.id, { about: this.#tools.about });

  #marker(n, card) {
    return card ? marker(n, card.structured.title, () => this.#open(card)) : null;
  }

  #sources(cards) {
    if (!cards.length) return [];
    const items = cards.map((card, at) => el("li", {}, this.#card(card, at + 1)));
    return [el("ol", { class: "sources", "aria-label": "Sources" }, ...items)];
  }

  #card(card, n) {
    return el("button", { type: "button", class: "source", onclick: () => this.#open(card) },
      el("span", { class: "number" }, String(n)),
      el("span", { class: "emoji", "aria-hidden": "true" }, card.structured.emoji),
      el("span", { class: "title" }, card.structured.title || "Untitled conversation"),
      el("span", { class: "meta" }, day(card.created_at)));
  }

  #actions(message) {
    return el("div", { class: "actions" },
      ...(message.id ? this.#buttons(message) : []),
      message.metadata?.model === OFFLINE && el("span", { class: "badge",
        title: "No language model is configured: the answer quotes the best passages." }, "offline model"));
  }

  #buttons({ id, rating, reported }) {
    const { api } = this.#tools;
    const up = iconButton("up", "Good answer", () => choose(up, 1));
    const down = iconButton("down", "Bad answer", () => choose(down, -1));
    const flag = iconButton("flag", "Report this answer", () => this.#try(async () => {
      await api.report(id);
      markReported(flag);
    }));
    const press = (chosen) => {
      for (const button of [up, down]) button.setAttribute("aria-pressed", String(button === chosen));
    };
    const choose = (chosen, value) => this.#try(async () => {
      await api.rate(id, value);
      press(chosen);
    });
    press({ 1: up, "-1": down }[rating]);
    if (reported) markReported(flag);
    return [up, down, flag];
  }

  async #try(act) {
    try {
      await act();
    } catch (problem) {
      this.#foot.append(el("p", { class: "problem", role: "alert" }, problem.message));
    }
  }
}

function markReported(flag) {
  flag.disabled = true;
  flag.setAttribute("aria-pressed", "true");
  flag.setAttribute("aria-label", "Reported");
  flag.title = "Reported";
}
