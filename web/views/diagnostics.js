// Diagnostics of an answer: model, tools, tokens, reads and time by stage.

import { el, problemLine } from "../dom.js";
import { formatNumber, t, tn } from "../i18n.js";
import { modelToolName, toolName } from "../words.js";

const ms = (value) => t("{n} ms", { n: formatNumber(value) });
const OFFLINE = "offline-extractive";
const FIRST_WORD = "first_token"; // measured from the start of the request; the others are the time of a stage
const STAGES = { prepare: t("Preparing"), model: t("Model"), tools: t("Tools"), store: t("Storing") };
const SEARCHES = {
  words: t("by words"),
  "words and meanings": t("by words and meanings"),
  "words, embedder down": t("by words, because meanings could not be compared"),
  unavailable: t("not available"),
};
const REASONS = {
  question: t("with the question"),
  agent: t("by the agent of the chat"),
  profile: t("in your settings"),
  pictures: t("because it takes pictures"),
  size: t("because it takes so much text"),
};
const KNOWN = {
  "about the library": t("as the question is about your library"),
  advice: t("as the question is about you"),
  "near by words": t("as they share words with the question"),
};
const PATHS = { simple: t("Without tools"), tools: t("With tools"), persona: t("As an app's persona") };

/** A disclosure that loads when it is opened. */
export function diagnostics(api, id) {
  const body = el("div", { "aria-live": "polite" });
  const node = el("details", { class: "diagnostics" }, el("summary", {}, t("Details of this answer")), body);
  node.addEventListener("toggle", async () => {
    if (!node.open || body.childElementCount) return;
    body.textContent = t("Loading…");
    try {
      const [details, { formatCost }] = await Promise.all([api.diagnostics(id), import("./model_usage.js")]);
      body.replaceChildren(...report(details, formatCost));
    } catch (problem) {
      body.replaceChildren(problemLine(problem));
    }
  });
  return node;
}

function report(details, formatCost) {
  return [
    el("dl", {}, ...facts(details, formatCost).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
    ...bars(t("Time by stage"), Object.entries(details.stages).filter(([stage]) => stage !== FIRST_WORD)
      .map(([stage, duration]) => [STAGES[stage] ?? toolName(stage), duration])),
    ...bars(t("Tools"), details.tools.map(({ tool, ms: duration, failed }) => [failed ? t("{tool} (failed)", { tool: modelToolName(tool) }) : modelToolName(tool), duration])),
  ];
}

function facts(details, formatCost) {
  const model = details.fallback_model ? t("{fallback}, because {model} was down", { fallback: details.fallback_model, model: details.model }) : details.model === OFFLINE ? t("offline model") : el("bdi", {}, details.model);
  return [
    [t("Model"), model],
    REASONS[details.model_reason] && [t("Chosen"), REASONS[details.model_reason]],
    [t("Path"), `${PATHS[details.path]}, ${tn({ one: "{n} model call", other: "{n} model calls" }, details.cycles)}`],
    [t("Tokens"), t("{read} read ({cached} from the cache), {written} written", { read: formatNumber(details.input_tokens), cached: formatNumber(details.cached_tokens), written: formatNumber(details.output_tokens) })],
    details.cost_micro_usd !== null && [t("Cost by list prices"), formatCost(details.cost_micro_usd, details.unpriced_calls)],
    [t("Documents"), t("{read} read, {written} written", { read: formatNumber(details.reads), written: formatNumber(details.writes) })],
    details.retrieval_path && [t("Search"), searchOf(details)],
    details.known && [t("Given beforehand"), knownOf(details.known)],
    [t("Sources"), formatNumber(details.citations)],
    [t("Time"), FIRST_WORD in details.stages ? t("{whole}, the first word after {first}", { whole: ms(details.ms), first: ms(details.stages[FIRST_WORD]) }) : ms(details.ms)],
    [t("Trace"), el("code", {}, details.trace_id)],
  ].filter(Boolean);
}

function searchOf({ retrieval_path: path, hits, fallback_without_filters: repeated }) {
  const found = tn({ one: "{path}, {n} hit", other: "{path}, {n} hits" }, hits, { path: SEARCHES[path] ?? path });
  return repeated ? t("{found}, repeated without filters", { found }) : found;
}

function knownOf({ reason, conversations, facts: memories }) {
  return t("{conversations} and {memories}, {reason}", {
    conversations: tn({ one: "{n} conversation", other: "{n} conversations" }, conversations.length),
    memories: tn({ one: "{n} memory", other: "{n} memories" }, memories.length),
    reason: KNOWN[reason],
  });
}

function bars(title, rows) {
  if (!rows.length) return [];
  const longest = Math.max(...rows.map(([, duration]) => duration), 1);
  const items = rows.map(([name, duration]) => el("li", {},
    el("span", {}, name),
    el("meter", { min: "0", max: String(longest), value: String(duration), "aria-label": name }),
    el("span", { class: "duration" }, ms(duration))));
  return [el("h4", {}, title), el("ul", { class: "bars" }, ...items)];
}
