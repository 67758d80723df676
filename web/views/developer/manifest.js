// The manifest of an app: the tools it offers, and why others were refused.

import { el, renew } from "../../dom.js";
import { formatNumber, t, tn, tNodes } from "../../i18n.js";
import { moment } from "../../words.js";
import { openOtherWindow } from "../other_window.js";
import { tool } from "../permissions.js";
import { refusals } from "./refusals.js";

export function manifest({ api, app, attempt }) {
  const { chat_tools_manifest_url: declared, mcp_server_url: server } = app.external_integration;
  const status = el("p", { role: "status" });
  const open = openOtherWindow(status);
  const tools = el("ul", { class: "permissions" });
  attempt(async () => tools.replaceChildren(...(await api.appTools(app.id)).map(tool)));
  const check = () => attempt(async () => {
    const checked = await (server ? api.checkMcpServer(app.id) : api.checkManifest(app.id));
    if (!checked.auth_url || (await open(checked.auth_url, t("Sign in to {name} in the other window, or open it again", { name: app.name }), isRead))) await reload();
  });
  const isRead = async () => (await api.app(app.id)).checked_at !== app.checked_at;
  const reload = async () => renew(node, manifest({ api, app: await api.app(app.id), attempt }));
  const node = el("section", { class: "block" },
    el("header", {}, el("h4", {}, server ? t("MCP server") : t("Manifest")), (server || declared) && el("button", { type: "button", onclick: check }, t("Check again"))),
    el("p", { class: "meta" }, server ?? declared ?? t("This app has no manifest.")),
    status,
    app.switched_off && el("p", { class: "problem" }, ...tNodes("Switched off: {reason}", { reason: el("span", { lang: "en" }, app.switched_off.reason) })),
    app.checked_at && el("p", { role: "status" }, summary(app), el("span", { class: "meta" }, " ", t("Read {moment}", { moment: moment(app.checked_at) }))),
    tools,
    app.refused_tools.length > 0 && el("ul", { class: "refused", "aria-label": t("Refused tools") }, ...app.refused_tools.map((reason) => el("li", { lang: "en" }, reason))),
    refusals({ api, app, attempt }));
  return node;
}

function summary({ chat_tools: { length: good }, refused_tools: { length: refused } }) {
  if (!refused) return tn({ one: "{n} tool is offered.", other: "{n} tools are offered." }, good);
  return tn({ one: "{n} tool is offered, {refused} refused.", other: "{n} tools are offered, {refused} refused." }, good, { refused: formatNumber(refused) });
}
