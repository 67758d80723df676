// What went on before an answer's words: the model's reasoning and its tools, folded away.

import { el } from "../dom.js";
import { toolName as nameOf } from "../words.js";

const STATE = { running: "running", done: "done", failed: "failed" };

export class Steps {
  node = el("div", { class: "steps" });
  #reasoning = null;
  #tools = new Map();

  /** Shows what concerns it of the chunks of a stream. */
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
    const said = el("pre", { tabindex: "0", "aria-label": title });
    this.node.append(el("details", {}, el("summary", {}, title, state), said));
    return said;
  }

  #start({ toolCallId, toolName, input }) {
    const state = el("span", { class: "state running" }, STATE.running);
    const said = this.#begin(nameOf(toolName), state);
    said.append(written(input));
    this.#tools.set(toolCallId, { state, said });
  }

  #end({ toolCallId }, word, output) {
    const tool = this.#tools.get(toolCallId);
    if (!tool) return;
    tool.state.textContent = word;
    tool.state.className = `state ${word}`;
    tool.said.append(`\n\n${written(output)}`);
  }
}

const written = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
