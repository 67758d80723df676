// The keys an app calls us with: shown once when they are made, listed by their ends, revoked.

import { el } from "../../dom.js";
import { day } from "../../words.js";
import { copyable } from "./copyable.js";

export function keys({ api, app, attempt }) {
  const list = el("ul", { class: "keys" });
  const made = el("div", { role: "status" });

  const load = async () => list.replaceChildren(...(await api.appKeys(app.id)).map(key));
  const key = ({ id, label, created_at }) => el("li", {},
    el("code", {}, label), el("span", { class: "meta" }, `since ${day(created_at)}`),
    el("button", { type: "button", class: "quiet", "aria-label": `Revoke ${label}`, onclick: () => revoke(id, label) }, "Revoke"));

  const create = () => attempt(async () => {
    const { secret } = await api.createAppKey(app.id);
    made.replaceChildren(el("p", {}, "Keep it now: it is not shown again."), copyable("key", secret));
    await load();
  });

  function revoke(id, label) {
    if (!confirm(`Revoke ${label}? Whoever uses it is refused at once.`)) return;
    attempt(async () => {
      await api.revokeAppKey(app.id, id);
      made.replaceChildren();
      await load();
      another.focus();
    });
  }

  const another = el("button", { type: "button", onclick: create }, "New key");
  attempt(load);
  return el("section", {},
    el("header", {}, el("h4", {}, "Keys"), another),
    made, list);
}
