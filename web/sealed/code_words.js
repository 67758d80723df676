// Codes of pairings: 128 random bits as eight made-up words of five letters, in any language easier to read out and to type than digits.
// They are proquints (arxiv.org/abs/0901.4016): each word has 16 bits, consonants four and vowels two.

const CONSONANTS = "bdfghjklmnprstvz";
const VOWELS = "aiou";
const WORD_COUNT = 8;
const PLACES = [[CONSONANTS, 12], [VOWELS, 10], [CONSONANTS, 6], [VOWELS, 4], [CONSONANTS, 0]];

export const makeCode = () => crypto.getRandomValues(new Uint8Array(2 * WORD_COUNT));

/** Writes the bytes of a code as words. */
export function toWords(code) {
  const view = new DataView(code.buffer);
  return Array.from({ length: WORD_COUNT }, (_, n) => toWord(view.getUint16(2 * n))).join(" ");
}

/** Reads a code, however its words are separated; null where it is none. */
export function parseWords(text) {
  const words = text.toLowerCase().split(/[^a-z]+/).filter(Boolean).map(parseWord);
  if (words.length !== WORD_COUNT || words.includes(null)) return null;
  return Uint8Array.from(words.flatMap((word) => [word >> 8, word & 255]));
}

const toWord = (bits) => PLACES.map(([letters, shift]) => letters[(bits >> shift) & (letters.length - 1)]).join("");

function parseWord(word) {
  const digits = PLACES.map(([letters, shift], n) => letters.indexOf(word[n]) << shift);
  return word.length === PLACES.length && digits.every((digit) => digit >= 0) ? digits.reduce((sum, digit) => sum | digit) : null;
}
