// API keys: a new one is shown once, the others are listed by their last characters.

import { el } from "../dom.js";
import { day } from "../words.js";
import { copyable } from "./copyable.js";

/**
 * A section that lists keys. `list()` returns them, `create()` returns the secret of a new one or null when
 * its user cancels, `revoke(id)` ends one; `attempt` runs a call and shows its error.
 */
export function keys({ heading, list, create, revoke, attempt }) {
  const items = el("ul", { class: "keys" });
  const newKey = el("div", { role: "status" });
  const addButton = el("button", { type: "button", onclick: () => attempt(add) }, "New key");

  const load = async () => items.replaceChildren(...(await list()).map(key));
  const describe = ({ created_at, expires_at, scope }) => [
    `since ${day(created_at)}`, expires_at && `until ${day(expires_at)}`, scope === "read" && "reads only",
  ].filter(Boolean).join(", ");
  const key = ({ id, name, label, ...fields }) => el("li", {},
    name, el("code", {}, label), el("span", { class: "meta" }, describe(fields)),
    el("button", { type: "button", class: "quiet", "aria-label": `Revoke ${name ?? label}`, onclick: () => remove(id, name ?? label) }, "Revoke"));

  async function add() {
    const secret = await create();
    if (!secret) return;
    newKey.replaceChildren(el("p", {}, "Copy it now. It is not shown again."), copyable("key", secret));
    await load();
  }

  function remove(id, title) {
    if (!confirm(`Revoke ${title}? It stops working at once.`)) return;
    attempt(async () => {
      await revoke(id);
      newKey.replaceChildren();
      await load();
      addButton.focus();
    });
  }

  attempt(load);
  return el("section", { class: "block" }, el("header", {}, el("h4", {}, heading), addButton), newKey, items);
}
