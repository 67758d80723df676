// Server-sent events of an answer. Each is one or more chunks, the last of which carries its number. A stream that nobody
// resumes has no numbers: it is one event, of number 0.

/** Collects bytes, however the network split them, into whole events `{seq, chunks}`. */
export class EventParser {
  #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #rest = "";
  #chunks = [];

  /** Takes the next bytes; returns the events they complete. An event cut short is never returned. */
  push(bytes) {
    const groups = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split("\n\n");
    this.#rest = groups.pop();
    return groups.map((group) => this.#take(group)).filter(Boolean);
  }

  #take(group) {
    const fields = Object.fromEntries(group.split("\n").map(field));
    const isEnd = fields.data === "[DONE]";
    if (fields.data && !isEnd) this.#chunks.push(JSON.parse(fields.data));
    return (fields.id || (isEnd && this.#chunks.length)) && { seq: Number(fields.id ?? 0), chunks: this.#chunks.splice(0) };
  }
}

// A comment, such as a heartbeat, becomes a field without a name.
function field(line) {
  const colon = line.indexOf(":");
  return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
}

/** Yields the events of a response body as they arrive. */
export async function* events(body) {
  const parser = new EventParser();
  for await (const bytes of pieces(body)) yield* parser.push(bytes);
}

/** The text of an answer without its last characters, which were a thought. */
export const withdraw = (text, chars) => [...text].slice(0, -chars).join("");

// Not every browser can iterate a ReadableStream itself.
async function* pieces(body) {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
