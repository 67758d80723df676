// Diagnostics of an answer: model, tools, tokens, reads and time by stage.

import { el } from "../dom.js";
import { modelToolName } from "../words.js";

const NUMBER = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const ms = (value) => `${NUMBER.format(value)} ms`;
const FIRST_WORD = "first_token"; // measured from the start of the request; the others are the time of a stage
const PATHS = { simple: "Without tools", tools: "With tools", persona: "As an app's persona" };

/** A disclosure that loads when it is opened. */
export function diagnostics(api, id) {
  const body = el("div", { "aria-live": "polite" });
  const node = el("details", { class: "diagnostics" }, el("summary", {}, "Details of this answer"), body);
  node.addEventListener("toggle", async () => {
    if (!node.open || body.childElementCount) return;
    body.textContent = "Loading…";
    try {
      body.replaceChildren(...report(await api.diagnostics(id)));
    } catch (problem) {
      body.textContent = problem.message;
    }
  });
  return node;
}

function report(details) {
  return [
    el("dl", {}, ...facts(details).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
    ...bars("Time by stage", Object.entries(details.stages).filter(([stage]) => stage !== FIRST_WORD)),
    ...bars("Tools", details.tools.map(({ tool, ms: duration, failed }) => [`${modelToolName(tool)}${failed ? " (failed)" : ""}`, duration])),
  ];
}

function facts(details) {
  const model = details.fallback_model ? `${details.fallback_model}, because ${details.model} was down` : details.model;
  return [
    ["Model", model],
    ["Path", `${PATHS[details.path]}, ${NUMBER.format(details.cycles)} model ${details.cycles === 1 ? "call" : "calls"}`],
    ["Tokens", `${NUMBER.format(details.input_tokens)} read (${NUMBER.format(details.cached_tokens)} from the cache), ${NUMBER.format(details.output_tokens)} written`],
    ["Documents", `${NUMBER.format(details.reads)} read, ${NUMBER.format(details.writes)} written`],
    details.retrieval_path && ["Search", `${details.retrieval_path}, ${NUMBER.format(details.hits)} hits${details.fallback_without_filters ? ", repeated without filters" : ""}`],
    ["Sources", NUMBER.format(details.citations)],
    ["Time", FIRST_WORD in details.stages ? `${ms(details.ms)}, the first word after ${ms(details.stages[FIRST_WORD])}` : ms(details.ms)],
    ["Trace", details.trace_id],
  ].filter(Boolean);
}

function bars(title, rows) {
  if (!rows.length) return [];
  const longest = Math.max(...rows.map(([, duration]) => duration), 1);
  const items = rows.map(([name, duration]) => el("li", {},
    el("span", {}, name.replaceAll("_", " ")),
    el("meter", { min: "0", max: String(longest), value: String(duration), "aria-label": name }),
    el("span", { class: "duration" }, ms(duration))));
  return [el("h4", {}, title), el("ul", { class: "bars" }, ...items)];
}
