// What is done in another window, at another's address: we lead there, and look until it is done.

import { linkOut } from "../dom.js";

const LOOK_EVERY_MS = 1500;
const WINDOW_LASTS_MS = 600_000; // as long as the other's answer is waited for

/**
 * Returns `go(url, text, isDone)`, which opens `url` and leaves its link on `line`. It resolves to whether
 * it was done there; with the next one, or after ten minutes, it was not.
 */
export function elsewhere(line) {
  let latest = 0;
  return async (url, text, isDone) => {
    const mine = ++latest;
    const way = linkOut(url, text);
    line.replaceChildren(way);
    if (way instanceof Element) way.click();
    for (const end = Date.now() + WINDOW_LASTS_MS; Date.now() < end; ) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      if (mine !== latest) return false;
      if (await isDone().catch(() => false)) return true;
    }
    return false;
  };
}
