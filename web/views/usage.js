// Usage: a bar for each quota of today, what was recorded this month, what models used by day, and for how long
// transcripts are kept.

import { attempting, el, find } from "../dom.js";
import { formatNumber, t, tag, tn } from "../i18n.js";
import { hour } from "../words.js";
import { DAYS, showModelUsage } from "./model_usage.js";

const NAMES = {
  turns: t("Questions"),
  tokens: t("Model tokens"),
  reading_tokens: t("Tokens of recordings"),
  ingested_bytes: t("New recordings"),
  file_seconds: t("Seconds of reading files"),
  sound_bytes: t("Sound to transcribe"),
  recorded_seconds: t("Seconds of sound recorded by devices"),
  outbound_calls: t("Calls to apps and services"),
  live_calls: t("Calls with live words or sound"),
  followers: t("Followed answers"),
  renewals: t("Conversations read again"),
  stored_bytes: t("All recordings"),
};
const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];

export function startUsage({ api }) {
  const view = find("#usage");
  const retention = find("select", view);
  const saved = find("[role=status]", view);
  const attempt = attempting(find(".problem", view));

  const load = () => attempt(async () => {
    const [{ quotas, days: used, monthly }, { retention_days: days }] = await Promise.all([api.usage(DAYS), api.profile()]);
    find("ul", view).replaceChildren(...quotas.map(showQuota));
    find(".recorded", view).textContent = describeRecorded(monthly);
    showModelUsage(find(".models", view), used);
    const { resets_at: reset } = quotas.find(({ resets_at: time }) => time);
    find(".reset", view).textContent = t("Used today; the count begins anew at {time}. All recordings count as long as they are stored.", { time: hour(reset) });
    if (!find(`option[value="${days}"]`, retention)) retention.append(new Option(tn({ one: "after {n} day", other: "after {n} days" }, days), days));
    retention.value = days;
  });

  retention.addEventListener("change", () => attempt(async () => {
    saved.textContent = "";
    await api.setRetention(Number(retention.value));
    saved.textContent = t("Saved.");
  }));
  return { reload: load };
}

function describeRecorded({ transcription_seconds: seconds, words_transcribed: words, insights_gained: insights, memories_created: memories }) {
  return [
    tn({ one: "{n} minute", other: "{n} minutes" }, Math.ceil(seconds / 60)),
    tn({ one: "{n} word", other: "{n} words" }, words),
    tn({ one: "{n} task or event", other: "{n} tasks and events" }, insights),
    tn({ one: "{n} memory", other: "{n} memories" }, memories),
  ].join(" · ");
}

function showQuota({ name, used, limit }) {
  const label = NAMES[name] ?? name;
  const format = name.endsWith("_bytes") ? size : formatNumber;
  const figures = limit === null ? t("{used}, no limit", { used: format(used) }) : t("{used} of {limit}", { used: format(used), limit: format(limit) });
  return el("li", {}, el("span", {}, label), el("span", { class: "figures" }, figures),
    limit !== null && el("meter", { min: 0, max: limit, high: 0.8 * limit, value: used, "aria-label": label }));
}

function size(bytes) {
  const power = Math.min(Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(1000)), UNITS.length - 1);
  return (bytes / 1000 ** power).toLocaleString(tag, { style: "unit", unit: UNITS[power], maximumSignificantDigits: 3 });
}
