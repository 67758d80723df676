// What calls to the app are signed with: hidden until asked for, rotated with an overlap.

import { el, renew } from "../../dom.js";
import { moment } from "../../words.js";
import { copyable } from "../copyable.js";

export function secret({ api, app, attempt }) {
  const until = app.retired_secret_until;
  function rotate() {
    if (!confirm("Make a new signing secret? The present one signs beside it for a day.")) return;
    attempt(async () => {
      await api.rotateSecret(app.id);
      renew(node, secret({ api, app: await api.app(app.id), attempt }));
    });
  }
  const node = el("section", { class: "block" },
    el("header", {}, el("h4", {}, "Signing secret"), el("button", { type: "button", onclick: rotate }, "Rotate")),
    el("details", {}, el("summary", {}, "Show it"), copyable("signing secret", app.signing_secret)),
    until && new Date(until) > new Date() && el("p", { class: "meta" }, `The one before signs as well until ${moment(until)}.`));
  return node;
}
