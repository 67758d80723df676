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
 * is asked; with `of`, it is another version of that message. Sent again with the same key, a question is never asked twice. Throws the Problem of a refusal.
 */
export async function* follow(api, question, signal) {
  let seen = 0;
  for (let failures = 0; ; failures++) {
    const before = seen;
    try {
      const answer = await (question.run ? api.resume(question.run, seen, signal) : api.ask(question, signal));
      for await (const { seq, chunks } of answer) {
        [seen, failures] = [seq, 0];
        yield* chunks;
        if (LAST.includes(chunks.at(-1)?.type)) return;
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
