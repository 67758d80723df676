// Marks of the words that were searched for.

import { el } from "../dom.js";

/** A text in pieces; words that begin like a word of `query` are marked. */
export function highlighted(text, query) {
  const words = query.match(/[\p{L}\p{N}]{3,}|\p{N}+/gu);
  if (!words) return [text];
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])((?:${words.join("|")})[\\p{L}\\p{N}]*)`, "giu");
  return text.split(pattern).map((piece, at) => (at % 2 ? el("mark", {}, piece) : piece));
}
