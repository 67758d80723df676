// Connected programs: those that their owner let in without a key, each with a press that ends it.

import { el } from "../dom.js";
import { t } from "../i18n.js";
import { copyable } from "./copyable.js";
import { describeUse } from "./keys.js";

/** A section that lists connected programs; `attempt` runs a call and shows its error. */
export function programs({ api, attempt }) {
  const items = el("ul", { class: "keys" });
  const heading = el("h3", { tabindex: "-1" }, t("Connected programs"));

  const load = async () => items.replaceChildren(...(await api.programs()).map(item));
  const item = ({ id, name, host, ...use }) => el("li", {},
    el("span", { dir: "auto" }, name), el("code", {}, host), el("span", { class: "meta" }, describeUse(use)),
    el("button", { type: "button", class: "quiet", "aria-label": t("Disconnect {name}", { name }), onclick: () => attempt(() => disconnect(id)) }, t("Disconnect")));

  async function disconnect(id) {
    await api.disconnectProgram(id);
    await load();
    heading.focus();
  }

  attempt(load);
  return el("section", { class: "block", "aria-label": t("Connected programs") }, el("header", {}, heading),
    el("p", {}, t("Give an MCP client this address. It then asks you in this console, without a key.")),
    copyable(t("Copy the address"), `${location.origin}/v1/mcp`), items);
}
