// Throwing away: what is gone comes back for ten seconds, by a line at the bottom that offers to undo it.

import { find, say } from "../dom.js";
import { t } from "../i18n.js";

const SHOWN_MS = 10_000;
const MAX_ROUNDS = 6;
const line = find("#undo");
const status = find("[role=status]", line);
const leaving = new Set(); // ids that lists no longer show
let due = null; // the removal that nobody has taken back yet
let undo;
let timer;

/** Tells whether a list still shows a record. */
export const remains = ({ id }) => !leaving.has(id);

/** Offers at the bottom to undo what `text` tells of. */
export function offerUndo(text, act) {
  settle();
  undo = act;
  line.hidden = false;
  say(status, text);
  find("button", line).focus();
  hideLater(MAX_ROUNDS);
}

/** Moves a record to the bin; `onGone()` follows that, `onBack()` its return. */
export async function throwAway(api, kind, { id, title }, onGone, onBack = onGone) {
  await api.moveToBin(kind, id);
  await onGone();
  offerUndo(t("In the bin: {title}", { title }), async () => {
    await api.restore(kind, id);
    await onBack();
  });
}

/** Takes off its list what has no bin, and deletes it once nobody has undone that; `reload()` shows those that remain. */
export function removeLater({ id, title }, remove, reload) {
  const back = () => {
    leaving.delete(id);
    return reload();
  };
  offerUndo(t("Deleted: {title}", { title }), back);
  leaving.add(id);
  due = { id, remove, back };
  return reload();
}

/** Hides the line and deletes what is due: before what must not find it, such as an export. */
export async function settle() {
  clearTimeout(timer);
  line.hidden = true;
  if (!due) return;
  const { id, remove, back } = due;
  due = null;
  try {
    await remove(id);
  } catch (problem) {
    line.hidden = false;
    say(status, problem);
    await back();
  }
}

// Not while somebody may be about to press it, but no longer than a minute.
function hideLater(rounds) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    if (rounds > 1 && line.matches(":hover, :has(:focus-visible)")) hideLater(rounds - 1);
    else settle();
  }, SHOWN_MS);
}

find("button", line).addEventListener("click", async () => {
  clearTimeout(timer);
  due = null;
  try {
    await undo();
    line.hidden = true;
  } catch (problem) {
    say(status, problem);
  }
});
window.addEventListener("pagehide", settle);
