// A task in another window, such as a sign-in: opens the window and polls until it is done.

import { linkOut } from "../dom.js";

const POLL_MS = 1500;
const TIMEOUT_MS = 600_000; // how long an authorization is valid

/**
 * Returns `open(url, text, isDone)`, which opens `url` and shows its link on `line`. It resolves to true once
 * `isDone()` does, and to false after ten minutes or when another is opened.
 */
export function openOtherWindow(line) {
  let latest = 0;
  return async (url, text, isDone) => {
    const ticket = ++latest;
    const link = linkOut(url, text);
    line.replaceChildren(link);
    if (link instanceof Element) link.click();
    for (const end = Date.now() + TIMEOUT_MS; Date.now() < end; ) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      if (ticket !== latest) return false;
      if (await isDone().catch(() => false)) return true;
    }
    return false;
  };
}
