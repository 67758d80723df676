// Model usage: tokens a day as bars, and what each role of models was asked.

import { draw, el, find } from "../dom.js";
import { formatNumber, t, tag } from "../i18n.js";

export const DAYS = 30;
const ROLES = {
  agent: t("Answers"),
  reader: t("Summaries and memories"),
  standard: t("Other answers and advice"),
  fast: t("Titles and small decisions"),
  persona: t("Answers of personas"),
  persona_premium: t("Answers of personas with a larger model"),
};
const MONEY = new Intl.NumberFormat(tag, { style: "currency", currency: "USD", maximumSignificantDigits: 3 });
const DAY = new Intl.DateTimeFormat(tag, { day: "numeric", month: "short", timeZone: "UTC" });
const [WIDTH, HEIGHT, GAP] = [600, 120, 4];

/** Shows the days in `view`; those on which nothing was used are missing in `days`. */
export function showModelUsage(view, days, today = new Date()) {
  const figures = listDays(days, today);
  const roles = Object.entries(sumRoles(days));
  find(".none", view).hidden = roles.length > 0;
  find(".used", view).hidden = roles.length === 0;
  find(".by-tokens", view).hidden = figures.every(({ tokens }) => !tokens);
  find(".chart", view).replaceChildren(drawBars(figures));
  const [, ...columns] = [...view.querySelectorAll(".roles thead th")].map((cell) => cell.textContent);
  find(".roles tbody", view).replaceChildren(...roles.map(([role, used]) => row(ROLES[role] ?? role,
    [...[used.calls, used.input_tokens, used.cached_tokens, used.output_tokens].map(formatNumber), formatCost(used.cost_micro_usd, used.calls - used.priced_calls)], columns)));
  find(".by-day tbody", view).replaceChildren(...figures.filter(({ turns, tokens }) => turns || tokens).toReversed()
    .map(({ label, turns, tokens }) => row(label, [turns, tokens].map(formatNumber))));
}

// One entry a day, the oldest first; days are those of UTC, as quotas count them.
function listDays(days, today) {
  const known = new Map(days.map((each) => [each.day, each]));
  return Array.from({ length: DAYS }, (_, n) => {
    const day = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate() - DAYS + 1 + n));
    const { turns, models } = known.get(day.toISOString().slice(0, 10)) ?? { turns: 0, models: [] };
    return { label: DAY.format(day), turns, tokens: models.reduce((sum, used) => sum + used.input_tokens + used.output_tokens, 0) };
  });
}

function sumRoles(days) {
  const sums = {};
  for (const { role, ...used } of days.flatMap(({ models }) => models)) {
    sums[role] ??= { calls: 0, input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_micro_usd: 0, priced_calls: 0 };
    for (const [name, amount] of Object.entries(used)) sums[role][name] += amount;
  }
  return sums;
}

/** Writes what models cost; the price of `unpriced` calls is not known. */
export function formatCost(micros, unpriced) {
  if (unpriced && !micros) return t("not known");
  const cost = MONEY.format(micros / 1e6);
  return unpriced ? t("at least {cost}", { cost }) : cost;
}

function drawBars(figures) {
  const most = Math.max(...figures.map(({ tokens }) => tokens), 1);
  const step = WIDTH / figures.length;
  const label = t("Tokens a day in the last 30 days: {sum} in all, at most {most} a day.",
    { sum: formatNumber(figures.reduce((sum, { tokens }) => sum + tokens, 0)), most: formatNumber(Math.max(...figures.map(({ tokens }) => tokens))) });
  return draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
    ...figures.map(({ label: name, tokens }, n) => {
      const height = (tokens / most) * HEIGHT;
      return draw("rect", { x: n * step, y: HEIGHT - height, width: step - GAP, height },
        draw("title", {}, t("{day}: {tokens} tokens", { day: name, tokens: formatNumber(tokens) })));
    }));
}

function row(label, figures, columns = []) {
  return el("tr", {}, el("th", { scope: "row" }, label), ...figures.map((figure, n) => el("td", { "data-column": columns[n] ?? null }, figure)));
}
