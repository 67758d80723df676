// A conversation's task as a line: whether it is done, and whose it is unless it is the owner's.

import { el, icon } from "../dom.js";
import { t } from "../i18n.js";

/** Returns the nodes of the line. */
export function taskLine({ description, completed, owner, owner_name }) {
  const text = owner === "me" ? description : `${owner_name || t("Somebody")}: ${description}`;
  return [icon(completed ? "done" : "task"), el(completed ? "s" : "span", { dir: "auto" }, text)];
}
