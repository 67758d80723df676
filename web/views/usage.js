// Usage: a bar for each quota of today, and for how long transcripts are kept.

import { attempting, el, find } from "../dom.js";

const NAMES = {
  turns: "Questions",
  tokens: "Model tokens",
  ingested_bytes: "New recordings",
  outbound_calls: "Calls to apps and services",
  followers: "Followed answers",
  stored_bytes: "All recordings",
};
const UNITS = ["bytes", "KB", "MB", "GB", "TB"];

export function startUsage({ api }) {
  const view = find("#usage");
  const retention = find("select", view);
  const saved = find("[role=status]", view);
  const attempt = attempting(find(".problem", view));

  const load = () => attempt(async () => {
    const [{ quotas }, { retention_days: days }] = await Promise.all([api.usage(), api.profile()]);
    find("ul", view).replaceChildren(...quotas.map(showQuota));
    const { resets_at: reset } = quotas.find(({ resets_at: time }) => time);
    find(".reset", view).textContent = `Used today; the count begins anew at ${clock(reset)}. All recordings count as long as they are stored.`;
    if (!find(`option[value="${days}"]`, retention)) retention.append(new Option(`after ${days} days`, days));
    retention.value = days;
  });

  retention.addEventListener("change", () => attempt(async () => {
    saved.textContent = "";
    await api.setRetention(Number(retention.value));
    saved.textContent = "Saved.";
  }));
  return { reload: load };
}

function showQuota({ name, used, limit }) {
  const label = NAMES[name] ?? name;
  const format = name.endsWith("_bytes") ? size : (count) => count.toLocaleString("en");
  const figures = limit === null ? `${format(used)}, no limit` : `${format(used)} of ${format(limit)}`;
  return el("li", {}, el("span", {}, label), el("span", { class: "figures" }, figures),
    limit !== null && el("meter", { min: 0, max: limit, high: 0.8 * limit, value: used, "aria-label": label }));
}

function size(bytes) {
  const power = Math.min(Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(1000)), UNITS.length - 1);
  return `${Number((bytes / 1000 ** power).toPrecision(3))} ${UNITS[power]}`;
}

const clock = (time) => new Date(time).toLocaleTimeString("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
