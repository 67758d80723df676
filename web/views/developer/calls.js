// The last calls to an app: time, tool, duration and error.

import { el } from "../../dom.js";
import { formatNumber, t } from "../../i18n.js";
import { moment } from "../../words.js";

const KINDS = { tool: t("tool"), webhook: t("webhook"), mcp: "MCP" };
const HEADINGS = [t("When"), t("Call"), t("User"), t("Duration"), t("Outcome")];

export function calls({ api, app, attempt }) {
  const list = el("div", { class: "wide", "aria-live": "polite" });
  const load = () => attempt(async () => list.replaceChildren(table(await api.appCalls(app.id))));
  load();
  return el("section", { class: "block" },
    el("header", {}, el("h4", {}, t("Last calls")), el("button", { type: "button", onclick: load }, t("Refresh"))),
    list);
}

function table(found) {
  if (!found.length) return el("p", { class: "hint" }, t("Not called in the last seven days."));
  return el("table", {},
    el("thead", {}, el("tr", {}, ...HEADINGS.map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, ...found.map(row)));
}

function row({ at, kind, name, user, ms, error }) {
  return el("tr", { class: error && "failed" },
    el("td", {}, el("time", { datetime: at }, moment(at))),
    el("td", {}, el("code", {}, name), " ", el("span", { class: "badge" }, KINDS[kind])),
    el("td", { dir: "auto" }, user),
    el("td", {}, t("{n} ms", { n: formatNumber(ms) })),
    el("td", { lang: error && "en" }, error ?? t("ok")));
}
