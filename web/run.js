// Following a run: one question to the end of its answer, across disconnections.

const PAUSES_MS = [250, 500, 1000, 2000, 4000];
const LOST = [0, 502, 503, 504];
const LAST = ["finish", "abort", "error"];

/**
 * Yields an answer's chunks, each once, to the last one. Between them: `{type: "waiting"}` when the connection is
 * lost, `{type: "restart"}` when the answer starts from its beginning again, `{type: "gone"}` as the last one
 * when the server no longer has its events.
 *
 * `question` is `{key, text, session}`, and gets its `run` as soon as the server names it; with a `run` nothing
 * is asked; with `of`, it is another version of that message. Sent again with the same key, a question is never asked twice. `tellLate` gets
 * the chunks that follow the last one, as far as they come. Throws the Problem of a refusal.
 */
export async function* follow(api, question, signal, tellLate = () => {}) {
  let seen = 0;
  for (let failures = 0; ; failures++) {
    const before = seen;
    try {
      const answer = await (question.run ? api.resume(question.run, seen, signal) : api.ask(question, signal));
      for await (const { seq, chunks } of readToEnd(answer, tellLate)) {
        [seen, failures] = [seq, 0];
        yield* chunks;
        if (isLast(chunks)) return;
      }
      if (seen === before) {
        yield { type: before ? "restart" : "gone" };
        if (!before) return;
        seen = 0; // a killed process loses its last events: the numbers we know may not exist
        continue;
      }
    } catch (problem) {
      if (question.run && problem.status === 404) return yield { type: "gone" };
      if (signal.aborted || !LOST.includes(problem.status)) throw problem;
    }
    yield { type: "waiting" };
    await pause(PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)], signal);
  }
}

const isLast = (chunks) => LAST.includes(chunks.at(-1)?.type);

// Leaves the rest of an answer that has ended to `tellLate`, and closes any other one that is left.
async function* readToEnd(answer, tellLate) {
  let hasEnded = false;
  try {
    for (let next = await answer.next(); !next.done; next = await answer.next()) {
      hasEnded = isLast(next.value.chunks);
      yield next.value;
    }
  } finally {
    if (hasEnded) readOn(answer, tellLate).catch(() => {}); // what breaks off now is no loss of the answer
    else await answer.return?.();
  }
}

async function readOn(answer, tellLate) {
  for await (const { chunks } of answer) chunks.forEach(tellLate);
}

// Ends early when the connection is back or the signal aborts.
function pause(ms, signal) {
  return new Promise((resolve) => {
    const ended = new AbortController();
    const end = () => {
      ended.abort();
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(end, ms);
    addEventListener("online", end, { signal: ended.signal });
    signal.addEventListener("abort", end, { signal: ended.signal });
  });
}
