// Steps before an answer's text: the model's reasoning and its tool calls, folded.

import { el } from "../dom.js";
import { modelToolName } from "../words.js";

const STATE = { running: "running", done: "done", failed: "failed" };

export class Steps {
  node = el("div", { class: "steps" });
  #reasoning = null;
  #tools = new Map();

  /** Takes a chunk of the stream; ignores those that are no step. */
  take(chunk) {
    if (chunk.type === "reasoning-start") this.#reasoning = this.#begin("Reasoning");
    if (chunk.type === "reasoning-delta") this.#reasoning.append(chunk.delta);
    if (chunk.type === "tool-input-available") this.#start(chunk);
    if (chunk.type === "tool-output-available") this.#end(chunk, STATE.done, chunk.output);
    if (chunk.type === "tool-output-error") this.#end(chunk, STATE.failed, chunk.errorText);
  }

  clear() {
    this.node.replaceChildren();
    this.#tools.clear();
  }

  #begin(title, state = null) {
    const body = el("pre", { tabindex: "0", "aria-label": title });
    this.node.append(el("details", {}, el("summary", {}, title, state), body));
    return body;
  }

  #start({ toolCallId, toolName, input }) {
    const state = el("span", { class: "state running" }, STATE.running);
    const body = this.#begin(modelToolName(toolName), state);
    body.append(toText(input));
    this.#tools.set(toolCallId, { state, body });
  }

  #end({ toolCallId }, word, output) {
    const tool = this.#tools.get(toolCallId);
    if (!tool) return;
    tool.state.textContent = word;
    tool.state.className = `state ${word}`;
    tool.body.append(`\n\n${toText(output)}`);
  }
}

const toText = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
