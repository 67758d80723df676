// The chat's answer stream: frames `kind: payload`, each ended by a blank line.

const DECODE = {
  think: (payload) => {
    const [status, app = null] = payload.split("|app_id:");
    return { status, app };
  },
  data: (payload) => ({ text: payload.replaceAll("__CRLF__", "\n") }),
  message: (payload) => ({ message: fromBase64(payload) }),
  done: (payload) => ({ message: fromBase64(payload) }),
};

/** Collects bytes, however the network split them, into whole frames. */
export class FrameParser {
  #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #rest = "";

  /** Takes the next bytes; returns the frames they complete. A frame cut short is never returned. */
  push(bytes) {
    const pieces = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split("\n\n");
    this.#rest = pieces.pop();
    return pieces.map(parse).filter(Boolean);
  }
}

/** Yields the frames of a response body as they arrive. */
export async function* frames(body) {
  const parser = new FrameParser();
  for await (const bytes of chunks(body)) yield* parser.push(bytes);
}

// Not every browser can iterate a ReadableStream itself.
async function* chunks(body) {
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

// A kind this console does not know is left out, so that new ones do no harm.
function parse(frame) {
  const colon = frame.indexOf(": ");
  const kind = frame.slice(0, colon);
  return Object.hasOwn(DECODE, kind) ? { kind, ...DECODE[kind](frame.slice(colon + 2)) } : null;
}

function fromBase64(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}
