// Questions before what cannot be undone, and those that have two answers.

import { el, openDialog } from "../dom.js";
import { t } from "../i18n.js";

/** Asks in a dialog; resolves to the value of the answer that is pressed, empty where it is left. `answers` are pairs of value and label. */
export function ask(question, answers, ...fields) {
  return new Promise((resolve) => {
    const cancel = el("button", { type: "button", onclick: () => dialog.close() }, t("Cancel"));
    const choices = answers.map(([value, label, style = "primary"]) => el("button", { value, class: style }, label));
    const dialog = openDialog(question, el("form", { method: "dialog" }, ...fields, el("div", { class: "row" }, cancel, ...choices)));
    dialog.addEventListener("close", () => resolve(dialog.returnValue));
  });
}

/** Asks whether to do what cannot be undone; `label` names the act. */
export const isSure = async (question, label) => Boolean(await ask(question, [["yes", label, "danger"]]));

/** Asks for a name; resolves to `{name, answer}`, null where it is left. */
export async function askName(question, answers) {
  const field = el("input", { "aria-label": t("Name"), dir: "auto", required: true, maxlength: 100, autofocus: true });
  const answer = await ask(question, answers, field);
  return answer ? { name: field.value.trim(), answer } : null;
}
