// Throwing away: a record moves to the bin, and for ten seconds a line at the bottom offers to undo that.

import { find, say } from "../dom.js";
import { t } from "../i18n.js";

const SHOWN_MS = 10_000;
let timer;
let undo;

find("#undo button").addEventListener("click", async () => {
  clearTimeout(timer);
  try {
    await undo();
    find("#undo").hidden = true;
  } catch (problem) {
    say(find("#undo [role=status]"), problem);
  }
});

/** Moves a record to the bin; `onGone()` follows that, `onBack()` its return. */
export async function throwAway(api, kind, { id, title }, onGone, onBack = onGone) {
  await api.moveToBin(kind, id);
  undo = async () => {
    await api.restore(kind, id);
    await onBack();
  };
  await onGone();
  find("#undo").hidden = false;
  say(find("#undo [role=status]"), t("In the bin: {title}", { title }));
  find("#undo button").focus();
  hideLater();
}

// Not while somebody may be about to press it.
function hideLater() {
  clearTimeout(timer);
  timer = setTimeout(() => {
    if (find("#undo").matches(":hover, :has(:focus-visible)")) hideLater();
    else find("#undo").hidden = true;
  }, SHOWN_MS);
}
