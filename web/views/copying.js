// Blocks of code in an answer: coloured, each with a button that copies it; and the button that copies the answer.

import { el, find, iconButton } from "../dom.js";
import { t } from "../i18n.js";

const REFUSED = t("This browser lets the page copy nothing. Select the text and copy it yourself.");
const MAX_COLOURED = 20_000; // characters; beyond that, colouring would hold up the page

/** A button that copies `text`; `attempt` runs it and shows its error. */
export function copyButton(label, text, attempt) {
  const button = iconButton("copy", label, () => attempt(async () => {
    await write(text);
    button.setAttribute("aria-label", t("Copied"));
    button.title = t("Copied");
  }));
  return button;
}

/** Puts a copy button beside each block of code in `prose`, and colours the block. */
export function offerCode(prose, attempt) {
  for (const block of prose.querySelectorAll("pre")) {
    const frame = el("div", { class: "code" });
    block.tabIndex = 0;
    block.dir = "ltr";
    block.replaceWith(frame);
    colour(block);
    frame.append(block, copyButton(t("Copy this code"), find("code", block)?.textContent ?? block.textContent, attempt));
  }
}

// Without the library, as when the network is gone, the code stays as it is.
async function colour(block) {
  const code = find("code[class]", block);
  if (!code || code.textContent.length > MAX_COLOURED) return;
  const colouring = await import("../code_colours.js").catch(() => null);
  colouring?.colour(code);
}

async function write(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch (problem) {
    throw new Error(REFUSED, { cause: problem });
  }
}
