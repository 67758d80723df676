// How an answer came about: model, tools, tokens, reads, and where the time went.

import { el } from "../dom.js";
import { toolName } from "../words.js";

const NUMBER = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const ms = (value) => `${NUMBER.format(value)} ms`;
const FIRST_WORD = "first_token"; // since the request began, where the others are spent in a stage
const PATHS = { simple: "Answered at once", tools: "Looked things up", persona: "An app's persona" };

/** A disclosure that asks when it is opened. */
export function diagnostics(api, id) {
  const body = el("div", { "aria-live": "polite" });
  const node = el("details", { class: "diagnostics" }, el("summary", {}, "How this answer came about"), body);
  node.addEventListener("toggle", async () => {
    if (!node.open || body.childElementCount) return;
    body.textContent = "Looking…";
    try {
      body.replaceChildren(...report(await api.diagnostics(id)));
    } catch (problem) {
      body.textContent = problem.message;
    }
  });
  return node;
}

function report(found) {
  return [
    el("dl", {}, ...facts(found).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
    ...bars("Where the time went", Object.entries(found.stages).filter(([stage]) => stage !== FIRST_WORD)),
    ...bars("Tools", found.tools.map(({ tool, ms: took, failed }) => [failed ? `${toolName(tool)} (failed)` : toolName(tool), took])),
  ];
}

function facts(found) {
  const model = found.fallback_model ? `${found.fallback_model}, because ${found.model} was down` : found.model;
  return [
    ["Model", model],
    ["Way", `${PATHS[found.path]}, ${NUMBER.format(found.cycles)} model ${found.cycles === 1 ? "call" : "calls"}`],
    ["Tokens", `${NUMBER.format(found.input_tokens)} read (${NUMBER.format(found.cached_tokens)} from the cache), ${NUMBER.format(found.output_tokens)} written`],
    ["Documents", `${NUMBER.format(found.reads)} read, ${NUMBER.format(found.writes)} written`],
    found.retrieval_path && ["Search", `${found.retrieval_path}, ${NUMBER.format(found.hits)} hits${found.fallback_without_filters ? ", again without filters" : ""}`],
    ["Sources", NUMBER.format(found.citations)],
    ["Time", FIRST_WORD in found.stages ? `${ms(found.ms)}, the first word after ${ms(found.stages[FIRST_WORD])}` : ms(found.ms)],
    ["Trace", found.trace_id],
  ].filter(Boolean);
}

function bars(title, rows) {
  if (!rows.length) return [];
  const longest = Math.max(...rows.map(([, took]) => took), 1);
  const items = rows.map(([name, took]) => el("li", {},
    el("span", {}, name.replaceAll("_", " ")),
    el("meter", { min: "0", max: String(longest), value: String(took), "aria-label": name }),
    el("span", { class: "took" }, ms(took))));
  return [el("h4", {}, title), el("ul", { class: "bars" }, ...items)];
}
