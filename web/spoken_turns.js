// Spoken turns: what a voice session's events come to, in the order in which it was said; no browser is needed.

const TEXTLESS = "";

/**
 * Takes the events of the provider's data channel. `take(event)` returns what the event makes due:
 * `turns` to keep, `{itemId, userText, assistantText}`, and `calls` of tools, `{callId, name, args}`.
 * Both wait until what the owner said before is text, which arrives after the answer to it.
 */
export class SpokenTurns {
  #utterances = []; // {itemId, text}; text is null until it is there
  #reach = 0; // how many of them the answer in progress has heard
  #answers = []; // {itemId, text, utterances}
  #calls = [];

  /** What the owner said since the last turn that was due. */
  get unkept() {
    const waiting = [...this.#answers.flatMap(({ utterances }) => utterances), ...this.#utterances];
    return join(waiting.map(({ text }) => text));
  }

  take(event) {
    if (event.type === "input_audio_buffer.committed") this.#utterances.push({ itemId: event.item_id, text: null });
    if (event.type === "conversation.item.input_audio_transcription.completed") this.#write(event.item_id, event.transcript.trim());
    if (event.type === "conversation.item.input_audio_transcription.failed") this.#write(event.item_id, TEXTLESS);
    if (event.type === "response.created") this.#reach = this.#utterances.length;
    if (event.type === "response.done") this.#finish(event.response.output ?? []);
    return { turns: this.#takeTurns(), calls: this.#takeCalls() };
  }

  #write(itemId, text) {
    const waiting = [...this.#answers.flatMap(({ utterances }) => utterances), ...this.#utterances];
    const utterance = waiting.find((one) => one.itemId === itemId);
    if (utterance) utterance.text = text;
  }

  #finish(output) {
    const said = output.filter(({ type }) => type === "message");
    const text = join(said.flatMap(({ content }) => content.map(({ transcript }) => transcript)));
    if (text) this.#answers.push({ itemId: said.at(-1).id, text, utterances: this.#utterances.splice(0, this.#reach) });
    const calls = output.filter(({ type }) => type === "function_call");
    this.#calls.push(...calls.map(({ call_id: callId, name, arguments: args }) => ({ callId, name, args })));
  }

  // An answer to nothing that became text, such as a cough, is no turn.
  #takeTurns() {
    const turns = [];
    while (this.#answers.length && isText(this.#answers[0].utterances)) {
      const { itemId, text, utterances } = this.#answers.shift();
      const userText = join(utterances.map((one) => one.text));
      if (userText) turns.push({ itemId, userText, assistantText: text });
    }
    return turns;
  }

  #takeCalls() {
    return isText(this.#utterances) ? this.#calls.splice(0) : [];
  }
}

const isText = (utterances) => utterances.every(({ text }) => text !== null);
const join = (texts) => texts.filter(Boolean).join(" ").trim();
