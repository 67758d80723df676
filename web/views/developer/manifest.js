// What the app's manifest declares: the tools that are offered, and why others are not.

import { el, linkOut, renew } from "../../dom.js";
import { moment } from "../../words.js";
import { tool } from "../permissions.js";

export function manifest({ api, app, attempt }) {
  const { chat_tools_manifest_url: declared, mcp_server_url: server } = app.external_integration;
  const signIn = el("p", { role: "status" });
  const tools = el("ul", { class: "may" });
  attempt(async () => tools.replaceChildren(...(await api.appTools(app.id)).map(tool)));
  const check = () => attempt(async () => {
    const found = await (server ? api.checkMcpServer(app.id) : api.checkManifest(app.id));
    if (found.auth_url) return signIn.replaceChildren(linkOut(found.auth_url, `Sign in at ${app.name} first`));
    renew(node, manifest({ api, app: await api.app(app.id), attempt }));
  });
  const node = el("section", { class: "block" },
    el("header", {}, el("h4", {}, server ? "MCP server" : "Manifest"), (server || declared) && el("button", { type: "button", onclick: check }, "Check again")),
    el("p", { class: "meta" }, server ?? declared ?? "This app has no manifest."),
    signIn,
    app.switched_off && el("p", { class: "problem" }, `Switched off: ${app.switched_off.reason}`),
    app.checked_at && el("p", { role: "status" }, verdict(app), el("span", { class: "meta" }, ` Read ${moment(app.checked_at)}`)),
    tools,
    app.refused_tools.length > 0 && el("ul", { class: "refused", "aria-label": "Refused tools" }, ...app.refused_tools.map((reason) => el("li", {}, reason))));
  return node;
}

function verdict({ chat_tools: { length: good }, refused_tools: { length: refused } }) {
  const offered = `${good} ${good === 1 ? "tool is" : "tools are"} offered`;
  return refused ? `${offered}, ${refused} refused.` : `${offered}.`;
}
