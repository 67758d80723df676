// One answer: its status and text while it streams, its sources and buttons once it is done.

import { el, iconButton, linkOut, problemLine } from "../dom.js";
import { t } from "../i18n.js";
import { marker, render } from "../markdown.js";
import { withdraw } from "../stream.js";
import { day } from "../words.js";
import { offerAddresses } from "./addresses.js";
import { changes } from "./changes.js";
import { Confirmations } from "./confirmation.js";
import { copyButton, offerCode } from "./copying.js";
import { diagnostics } from "./diagnostics.js";
import { feedback } from "./feedback.js";
import { ENDED_EARLY } from "./outcomes.js";
import { linkContacts } from "./plan_contacts.js";
import { Steps } from "./steps.js";
import { versionSwitch } from "./versions.js";

const OFFLINE = "offline-extractive";

export class Answer {
  #text = "";
  #frame = 0;
  #sources = [];
  #cards = []; // the conversations that it cites
  #status = el("p", { class: "status", role: "status" }, t("Thinking"));
  #steps = new Steps();
  #prose = el("div", { class: "prose", dir: "auto" });
  #embeds = null; // what tools returned, once there is any
  #returned = el("div");
  #chart = el("div");
  #connect = el("div", { class: "connect" });
  #confirmations;
  #foot = el("footer");
  #model = el("p", { class: "model", hidden: true });
  #voices = null; // the answers beside this one, once there are any
  #tools;

  /**
   * `question` is the question it answers, empty for a greeting; `retry(node)` asks it again, and `show(id)` shows
   * another version.
   */
  constructor({ api, read, question, retry, show }) {
    this.#tools = { api, read, question, retry: () => retry(this.node), show };
    this.#confirmations = new Confirmations(api);
    this.node = el("article", { class: "message ai", "aria-label": t("Answer"), "aria-busy": "true" },
      el("div", { class: "main" },
        this.#model, this.#status, this.#steps.node, this.#returned, this.#prose, this.#chart, this.#connect, this.#confirmations.node, this.#foot));
  }

  /** Shows the next chunk of the stream. */
  take(chunk) {
    this.#steps.take(chunk);
    this.#confirmations.take(chunk);
    if (this.#voices || chunk.type === "data-voices") this.#beside((voices) => voices.take(chunk));
    if (chunk.type === "data-embed") this.#showEmbeds((embeds) => embeds.take(chunk.data));
    if (chunk.type === "data-chart") this.#draw(chunk.data);
    if (chunk.type === "data-connect") this.#offerConnection(chunk.data);
    if (chunk.type === "data-confirmation") this.#showStatus(chunk.data.state === "asked" ? t("Waiting for your answer") : t("Continuing"));
    if (chunk.type === "waiting") this.#showStatus(t("No connection. Trying again…"));
    if (chunk.type === "restart") this.#restart();
    if (chunk.type === "data-status") this.#showStatus(chunk.data.text, "en");
    if (chunk.type === "source-document") this.#sources[chunk.providerMetadata.keepsake.number - 1] = chunk;
    if (chunk.type === "text-delta") this.#write(this.#text + chunk.delta);
    if (chunk.type === "data-answer-withdrawn") this.#write(withdraw(this.#text, chunk.data.chars));
    if (chunk.type === "data-message") this.finish(chunk.data);
  }

  /** Shows the whole message as it is stored. */
  finish(message) {
    const cards = message.memories ?? [];
    this.#hideStatus();
    this.#confirmations.end();
    if (message.metadata?.parts) this.#showParts(message.metadata.parts);
    this.node.dataset.id = message.id;
    this.#text = message.text;
    this.#cards = cards;
    this.#prose.replaceChildren(
      offerAddresses(render(message.metadata?.marked_text ?? message.text, (n) => this.#marker(n, message))));
    offerCode(this.#prose, this.#attempt);
    this.#attempt(() => linkContacts(this.#prose, this.#tools));
    if (message.chart_data) this.#draw(message.chart_data);
    else this.#chart.replaceChildren();
    this.#foot.replaceChildren(...this.#note(message), ...changes(this.#tools.api, message, this.#attempt), ...this.#listSources(cards, message.metadata?.file_citations), this.#actions(message),
      ...(this.#tools.question ? [diagnostics(this.#tools.api, message.id)] : []));
    if (message.metadata?.voices) this.#offerOthers(message);
  }

  // What streamed beside this answer stays there; of an older one the others are loaded when they are wanted.
  #offerOthers(message) {
    const load = () => this.#attempt(() => this.#compare(message));
    if (this.#voices) return load();
    const button = el("button", { type: "button", class: "quiet", onclick: async () => {
      await load();
      button.remove();
    } }, t("Show the other answers"));
    this.#foot.append(button);
  }

  async #compare(message) {
    const alternatives = await this.#tools.api.alternatives(message.id);
    await this.#beside((voices) => voices.show(message, alternatives, {
      mark: (one) => (n) => this.#marker(n, one),
      choose: (voice) => this.#attempt(async () => {
        this.finish(await this.#tools.api.chooseAnswer(message.id, voice));
        this.#prose.tabIndex = -1;
        this.#prose.focus();
      }),
    }));
  }

  // Most answers stand alone: what shows others beside them is loaded when it is needed.
  #beside(act) {
    this.#voices ??= import("./voices.js").then(({ Voices }) => new Voices(this.node, this.#model, this.#tools.api.embed));
    this.#voices = this.#voices.then((voices) => {
      act(voices);
      return voices;
    });
    return this.#voices;
  }

  async #draw(data) {
    const { chart } = await import("./chart.js");
    this.#chart.replaceChildren(chart(data));
  }

  #showParts(parts) {
    this.#steps.show(parts);
    if (this.#embeds || parts.some(({ type }) => type === "data-embed")) this.#showEmbeds((embeds) => embeds.show(parts));
  }

  // Few answers have any: what draws them is loaded with the first.
  async #showEmbeds(act) {
    this.#embeds ??= import("./embeds.js").then(({ Embeds }) => new Embeds(this.#tools.api.embed));
    const embeds = await this.#embeds;
    act(embeds);
    this.#returned.replaceChildren(embeds.node);
  }

  #showStatus(text, lang = null) {
    this.#status.textContent = text;
    this.#status.toggleAttribute("lang", Boolean(lang));
    if (lang) this.#status.lang = lang;
    this.#status.hidden = false;
  }

  #offerConnection({ url, name }) {
    this.#connect.append(el("p", {}, linkOut(url, t("Connect your account at {service}", { service: name ?? t("the service") }))));
  }

  #restart() {
    this.#text = "";
    this.#steps.clear();
    this.#embeds?.then((embeds) => embeds.clear());
    this.#confirmations.clear();
    this.#chart.replaceChildren();
    this.#connect.replaceChildren();
    this.#prose.replaceChildren();
    this.#showStatus(t("Thinking"));
  }

  #hideStatus() {
    cancelAnimationFrame(this.#frame);
    this.#status.remove();
    this.node.removeAttribute("aria-busy");
  }

  // Words arrive faster than a screen shows them: one rendering per painted frame is enough.
  #write(text) {
    this.#text = text;
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#status.hidden = Boolean(this.#text);
      this.#prose.replaceChildren(offerAddresses(render(this.#text, (n) => this.#streamedMarker(n))));
    });
  }

  #open(id) {
    this.#tools.read(id, { question: this.#tools.question, answer: this.#text, cited: this.#cards.find((card) => card.id === id) ?? {} });
  }

  #streamedMarker(n) {
    const source = this.#sources[n - 1];
    if (!source) return null;
    const { kind, page } = source.providerMetadata.keepsake;
    if (kind === "file") return this.#fileMarker({ number: n, id: source.sourceId, name: source.title, page });
    return marker(n, source.title, () => this.#open(source.sourceId));
  }

  #fileMarker(file) {
    const title = file.page ? t("{file}, page {page}", { file: file.name, page: file.page }) : file.name;
    return marker(file.number, title, () => this.#attempt(async () => (await import("./file_cards.js")).openFile(this.#tools.api, file)));
  }

  // More may be cited than there are cards.
  #marker(n, { memories_id: ids = [], memories: cards = [], metadata }) {
    const files = metadata?.file_citations ?? [];
    const file = files.find(({ number }) => number === n);
    if (file) return this.#fileMarker(file);
    const at = n - 1 - files.filter(({ number }) => number < n).length;
    return ids[at] ? marker(n, cards[at]?.structured.title ?? "", () => this.#open(ids[at])) : null;
  }

  #note({ metadata }) {
    const note = ENDED_EARLY[metadata?.outcome];
    if (!note || !this.#tools.question) return [];
    return [el("p", { class: "ended", role: "status" }, note,
      el("button", { type: "button", onclick: this.#tools.retry }, t("Try again")))];
  }

  #listSources(cards, files = []) {
    if (!cards.length) return [];
    const items = cards.map((card, at) => el("li", {}, this.#card(card, numberOf(at, files))));
    return [el("ol", { class: "sources", "aria-label": t("Sources") }, ...items)];
  }

  #card(card, n) {
    return el("button", { type: "button", class: "source", onclick: () => this.#open(card.id) },
      el("span", { class: "number" }, String(n)),
      el("span", { class: "emoji", "aria-hidden": "true" }, card.structured.emoji),
      el("span", { class: "title", dir: "auto" }, card.structured.title || t("Untitled conversation")),
      el("span", { class: "meta" }, day(card.created_at)));
  }

  // A greeting answers no question and a refusal is not stored, so neither can be rated.
  #actions(message) {
    const isRatable = this.#tools.question && message.metadata?.outcome !== "refused";
    const canAskAgain = isRatable && !ENDED_EARLY[message.metadata?.outcome];
    return el("div", { class: "actions" },
      versionSwitch(message, this.#tools.show),
      message.text && copyButton(t("Copy this answer"), message.text, this.#attempt),
      canAskAgain && iconButton("again", t("Ask again"), this.#tools.retry, { class: "quiet ask-again" }),
      ...(isRatable ? feedback(this.#tools.api, message, this.#attempt) : []),
      message.metadata?.model === OFFLINE && el("span", { class: "badge",
        title: t("No language model is configured: the answer quotes the best passages.") }, t("offline model")));
  }

  #attempt = async (act) => {
    try {
      await act();
    } catch (problem) {
      this.#foot.append(problemLine(problem));
    }
  };
}

// Conversations and files share their numbers: a conversation has the next one that no file has.
function numberOf(at, files) {
  const taken = files.map(({ number }) => number);
  let number = 0;
  for (let left = at + 1; left; left -= !taken.includes(number)) number++;
  return number;
}
