// A conversation's task as a line: whether it is done, and whose it is unless it is the owner's.

import { el, icon } from "../dom.js";
import { t } from "../i18n.js";

/** Returns the nodes of the line. */
export function taskLine(task) {
  const { completed } = task;
  return [icon(completed ? "done" : "task"), el(completed ? "s" : "span", { dir: "auto" }, textOf(task))];
}

/** Returns the line as a box with a label; `tick(box)` follows a change. */
export function taskBox(task, tick) {
  const box = el("input", { type: "checkbox", checked: task.completed, onchange: () => tick(box) });
  return el("label", { class: "check" }, box, el("span", { dir: "auto" }, textOf(task)));
}

const textOf = ({ description, owner, owner_name: name }) => owner === "me" ? description : `${name || t("Somebody")}: ${description}`;
