// Steps before an answer's text: the model's reasoning and its tool calls, folded.

import { el } from "../dom.js";
import { t } from "../i18n.js";
import { modelToolName } from "../words.js";

const STATES = { running: t("running"), done: t("done"), failed: t("failed") };

export class Steps {
  node = el("div", { class: "steps" });
  #reasoning = null;
  #tools = new Map();

  /** Takes a chunk of the stream; ignores those that are no step. */
  take(chunk) {
    if (chunk.type === "reasoning-start") this.#reasoning = this.#begin(t("Reasoning"));
    if (chunk.type === "reasoning-delta") this.#reasoning.append(chunk.delta);
    if (chunk.type === "tool-input-available") this.#start(chunk);
    if (chunk.type === "tool-output-available") this.#end(chunk, "done", chunk.output);
    if (chunk.type === "tool-output-error") this.#end(chunk, "failed", chunk.errorText);
  }

  /** Shows the parts of a stored answer as if they were streamed; text is no step. */
  show(parts) {
    this.clear();
    for (const part of parts) {
      if (part.type === "reasoning") this.#begin(t("Reasoning")).append(part.text);
      if (part.type === "dynamic-tool") this.#showCall(part);
    }
  }

  #showCall(part) {
    this.#start(part);
    if (part.state === "output-available") this.#end(part, "done", part.output);
    else this.#end(part, "failed", part.errorText);
  }

  clear() {
    this.node.replaceChildren();
    this.#tools.clear();
  }

  #begin(title, state = null) {
    const body = el("pre", { tabindex: "0", "aria-label": title, dir: "auto" });
    this.node.append(el("details", {}, el("summary", {}, el("bdi", {}, title), state), body));
    return body;
  }

  #start({ toolCallId, toolName, input }) {
    const state = el("span", { class: "state running" }, STATES.running);
    const body = this.#begin(modelToolName(toolName), state);
    body.append(toText(input));
    this.#tools.set(toolCallId, { state, body });
  }

  #end({ toolCallId }, outcome, output) {
    const tool = this.#tools.get(toolCallId);
    if (!tool) return;
    tool.state.textContent = STATES[outcome];
    tool.state.className = `state ${outcome}`;
    tool.body.append(`\n\n${toText(output)}`);
  }
}

const toText = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
