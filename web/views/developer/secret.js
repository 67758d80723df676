// The signing secret of an app: hidden until shown, rotated with an overlap.

import { el, renew } from "../../dom.js";
import { moment } from "../../words.js";
import { copyable } from "../copyable.js";

export function secret({ api, app, attempt }) {
  const until = app.retired_secret_until;
  function rotate() {
    if (!confirm("Create a new signing secret? For one day, calls are signed with both.")) return;
    attempt(async () => {
      await api.rotateSecret(app.id);
      renew(node, secret({ api, app: await api.app(app.id), attempt }));
    });
  }
  const node = el("section", { class: "block" },
    el("header", {}, el("h4", {}, "Signing secret"), el("button", { type: "button", onclick: rotate }, "Rotate")),
    el("details", {}, el("summary", {}, "Show it"), copyable("signing secret", app.signing_secret)),
    until && new Date(until) > new Date() && el("p", { class: "meta" }, `The previous secret stays valid until ${moment(until)}.`));
  return node;
}
