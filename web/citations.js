// Cited segments: the part of a conversation that an answer is based on.

const SHORTEST_QUOTE = 12; // characters; shorter sentences occur too often

/** The segments that `answer` quotes; where it quotes none, those of the retrieved passages. */
export function citedSegments(segments, passages, answer) {
  const retrieved = segments.filter((_, at) => passages.some((p) => p.first_segment <= at && at <= p.last_segment));
  const words = spaced(answer);
  const quoted = retrieved.filter(({ text }) => sentences(text).some((sentence) => words.includes(sentence)));
  return new Set(quoted.length ? quoted : retrieved);
}

const spaced = (text) => text.replace(/\s+/g, " ").trim();

function sentences(text) {
  const parts = spaced(text).split(/(?<=[.!?…]) /).map((part) => part.replace(/[.!?…]+$/, ""));
  return parts.filter((part) => part.length >= SHORTEST_QUOTE);
}
