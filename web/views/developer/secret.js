// The signing secret of an app: hidden until shown, rotated with an overlap.

import { el, renew } from "../../dom.js";
import { t } from "../../i18n.js";
import { moment } from "../../words.js";
import { isSure } from "../asking.js";
import { copyable } from "../copyable.js";

export function secret({ api, app, attempt }) {
  const until = app.retired_secret_until;
  const rotate = () => attempt(async () => {
    if (!(await isSure(t("Create a new signing secret? For one day, calls are signed with both."), t("Rotate")))) return;
    await api.rotateSecret(app.id);
    renew(node, secret({ api, app: await api.app(app.id), attempt }));
  });
  const node = el("section", { class: "block" },
    el("header", {}, el("h4", {}, t("Signing secret")), el("button", { type: "button", onclick: rotate }, t("Rotate"))),
    el("details", {}, el("summary", {}, t("Show it")), copyable(t("Copy the signing secret"), app.signing_secret)),
    until && new Date(until) > new Date() && el("p", { class: "meta" }, t("The previous secret stays valid until {moment}.", { moment: moment(until) })));
  return node;
}
