// Keys that programs call us with: shown once when they are made, listed by their ends, revoked.

import { el } from "../dom.js";
import { day } from "../words.js";
import { copyable } from "./copyable.js";

/**
 * A section that lists keys. `list()` gives them, `create()` gives the secret of a new one, or null where
 * its owner thinks again, `revoke(id)` ends one; `attempt` runs a call and says what went wrong.
 */
export function keys({ heading, list, create, revoke, attempt }) {
  const shown = el("ul", { class: "keys" });
  const made = el("div", { role: "status" });
  const another = el("button", { type: "button", onclick: () => attempt(make) }, "New key");

  const load = async () => shown.replaceChildren(...(await list()).map(key));
  const key = ({ id, name, label, created_at }) => el("li", {},
    name, el("code", {}, label), el("span", { class: "meta" }, `since ${day(created_at)}`),
    el("button", { type: "button", class: "quiet", "aria-label": `Revoke ${name ?? label}`, onclick: () => end(id, name ?? label) }, "Revoke"));

  async function make() {
    const secret = await create();
    if (!secret) return;
    made.replaceChildren(el("p", {}, "Keep it now: it is not shown again."), copyable("key", secret));
    await load();
  }

  function end(id, named) {
    if (!confirm(`Revoke ${named}? Whoever uses it is refused at once.`)) return;
    attempt(async () => {
      await revoke(id);
      made.replaceChildren();
      await load();
      another.focus();
    });
  }

  attempt(load);
  return el("section", { class: "block" }, el("header", {}, el("h4", {}, heading), another), made, shown);
}
