// API keys: a new one is shown once, the others are listed by their last characters.

import { el } from "../dom.js";
import { t } from "../i18n.js";
import { day } from "../words.js";
import { isSure } from "./asking.js";
import { copyable } from "./copyable.js";

/** Says since when a program is let in, when it was last there, until when, and whether it reads only. */
export const describeUse = ({ created_at, last_used_at, expires_at, ...rights }) => [
  t("since {day}", { day: day(created_at) }), last_used_at && t("used {day}", { day: day(last_used_at) }), expires_at && t("until {day}", { day: day(expires_at) }), readsOnly(rights) && t("reads only"),
].filter(Boolean).join(", ");

const readsOnly = ({ scope, scopes }) => scope === "read" || (scopes && scopes.every((name) => name.endsWith(":read")));

/**
 * A section that lists keys. `list()` returns them, `create()` returns the secret of a new one or null when
 * its user cancels, `revoke(id)` ends one; `attempt` runs a call and shows its error.
 */
export function keys({ heading, list, create, revoke, attempt }) {
  const items = el("ul", { class: "keys" });
  const newKey = el("div", { role: "status" });
  const addButton = el("button", { type: "button", onclick: () => attempt(add) }, t("New key"));

  const load = async () => items.replaceChildren(...(await list()).map(key));
  const key = ({ id, name, label, key_prefix: prefix = label, ...fields }) => el("li", {},
    name && el("span", { dir: "auto" }, name), el("code", {}, prefix), el("span", { class: "meta" }, describeUse(fields)),
    el("button", { type: "button", class: "quiet", "aria-label": t("Revoke {name}", { name: name ?? prefix }), onclick: () => remove(id, name ?? prefix) }, t("Revoke")));

  async function add() {
    const secret = await create();
    if (!secret) return;
    newKey.replaceChildren(el("p", {}, t("Copy it now. It is not shown again.")), copyable(t("Copy the key"), secret));
    await load();
  }

  const remove = (id, title) => attempt(async () => {
    if (!(await isSure(t("Revoke {name}? It stops working at once.", { name: title }), t("Revoke")))) return;
    await revoke(id);
    newKey.replaceChildren();
    await load();
    addButton.focus();
  });

  attempt(load);
  return el("section", { class: "block", "aria-label": heading }, el("header", {}, el("h3", {}, heading), addButton), newKey, items);
}
