// The last calls to an app: time, tool, duration and error.

import { el } from "../../dom.js";
import { moment } from "../../words.js";

const KINDS = { tool: "tool", webhook: "webhook", mcp: "MCP" };
const HEADINGS = ["When", "Call", "User", "Duration", "Outcome"];

export function calls({ api, app, attempt }) {
  const list = el("div", { class: "wide", "aria-live": "polite" });
  const load = () => attempt(async () => list.replaceChildren(table(await api.appCalls(app.id))));
  load();
  return el("section", { class: "block" },
    el("header", {}, el("h4", {}, "Last calls"), el("button", { type: "button", onclick: load }, "Refresh")),
    list);
}

function table(found) {
  if (!found.length) return el("p", { class: "hint" }, "Not called in the last seven days.");
  return el("table", {},
    el("thead", {}, el("tr", {}, ...HEADINGS.map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, ...found.map(row)));
}

function row({ at, kind, name, user, ms, error }) {
  return el("tr", { class: error && "failed" },
    el("td", {}, el("time", { datetime: at }, moment(at))),
    el("td", {}, name, el("span", { class: "badge" }, KINDS[kind])),
    el("td", {}, user),
    el("td", {}, `${ms} ms`),
    el("td", {}, error ?? "ok"));
}
