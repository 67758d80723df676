// Answers of other models beside one: while they stream, and as they are stored.

import { el } from "../dom.js";
import { t } from "../i18n.js";
import { render } from "../markdown.js";
import { withdraw } from "../stream.js";
import { Embeds } from "./embeds.js";
import { ENDED_EARLY } from "./outcomes.js";
import { Steps } from "./steps.js";

const ENDS = { finish: "", abort: ENDED_EARLY.stopped, error: ENDED_EARLY.failed };

/** One answer of another model, in a column of its own. */
class Voice {
  #text = "";
  #frame = 0;
  #status = el("p", { class: "status", role: "status" }, t("Thinking"));
  #steps = new Steps();
  #prose = el("div", { class: "prose", dir: "auto" });
  #chart = el("div");
  #embeds;
  #foot = el("footer");

  /** `load(id)` gets an embed and its children. */
  constructor(model, load) {
    this.#embeds = new Embeds(load);
    this.node = el("section", { class: "voice", "aria-label": t("Answer of {model}", { model }) },
      el("p", { class: "model" }, el("bdi", {}, model)), this.#status, this.#steps.node, this.#embeds.node, this.#prose, this.#chart, this.#foot);
  }

  take(chunk) {
    this.#steps.take(chunk);
    if (chunk.type === "text-delta") this.#write(this.#text + chunk.delta);
    if (chunk.type === "data-answer-withdrawn") this.#write(withdraw(this.#text, chunk.data.chars));
    if (chunk.type === "data-embed") this.#embeds.take(chunk.data);
    if (chunk.type === "data-chart") this.#draw(chunk.data);
    if (chunk.type in ENDS) this.#end(ENDS[chunk.type]);
  }

  /** Shows the stored answer; `mark(message)` makes its markers, `choose` puts it in the place of the main one. */
  finish(message, { mark, choose }) {
    cancelAnimationFrame(this.#frame);
    this.#end(ENDED_EARLY[message.metadata.outcome] ?? "");
    this.#steps.show(message.metadata.parts);
    this.#embeds.show(message.metadata.parts);
    this.#prose.replaceChildren(render(message.metadata.marked_text ?? message.text, mark(message)));
    if (message.chart_data) this.#draw(message.chart_data);
    if (message.metadata.outcome !== "failed") this.#foot.append(el("button", { type: "button", onclick: choose }, t("Use this answer")));
  }

  #write(text) {
    this.#text = text;
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#status.hidden = Boolean(this.#text);
      this.#prose.replaceChildren(render(this.#text, () => null));
    });
  }

  async #draw(data) {
    const { chart } = await import("./chart.js");
    this.#chart.replaceChildren(chart(data));
  }

  #end(note) {
    this.#status.hidden = true;
    this.#foot.replaceChildren(...(note ? [el("p", { class: "ended" }, note)] : []));
  }
}

/** The columns beside the main answer; `node` takes no room of its own. */
export class Voices {
  node = el("div", { class: "voices" });
  #voices = new Map();
  #name;
  #article;
  #load;

  /** `article` holds the main answer, `name` is where its model is named, and `load(id)` gets an embed. */
  constructor(article, name, load) {
    this.#load = load;
    this.#article = article;
    this.#name = name;
    article.append(this.node);
  }

  /** Takes a chunk of the stream; ignores those of the main answer. */
  take(chunk) {
    if (chunk.type === "restart") this.#clear();
    if (chunk.type === "data-voices") this.#begin(chunk.data.models);
    if (chunk.type === "data-voice") this.#voices.get(chunk.data.voice)?.take(chunk.data.chunk);
  }

  /** Shows the stored answers beside `message`; `choose(voice)` is called for the one that is wanted. */
  show(message, alternatives, { mark, choose }) {
    this.#begin(message.metadata.voices, message.metadata.voice);
    for (const one of alternatives) {
      const { voice } = one.metadata;
      this.#voices.get(voice)?.finish(one, { mark, choose: () => choose(voice) });
    }
  }

  #clear() {
    this.#voices.clear();
    this.node.replaceChildren();
    this.#article.classList.remove("compared");
    this.#name.hidden = true;
  }

  #begin(models, main = 0) {
    this.#clear();
    this.#article.classList.add("compared");
    this.#name.replaceChildren(el("bdi", {}, models[main]));
    this.#name.hidden = false;
    models.forEach((model, at) => at !== main && this.#voices.set(at, new Voice(model, this.#load)));
    this.node.replaceChildren(...[...this.#voices.values()].map(({ node }) => node));
  }
}
