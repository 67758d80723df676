// Settings of the daily summary: whether it is made, and at which hour. Every change is saved at once.

import { attempting, find } from "../dom.js";
import { t } from "../i18n.js";
import { hour as clock } from "../words.js";

export function startSummarySettings({ api }) {
  const section = find("#settings-summary");
  const attempt = attempting(find(".problem", section));
  const enabled = find("[type=checkbox]", section);
  const hour = find("select", section);
  hour.append(...Array.from({ length: 24 }, (_, at) => new Option(clock(new Date(2000, 0, 1, at)), at)));

  function show(settings) {
    enabled.checked = settings.enabled;
    enabled.disabled = false;
    hour.value = settings.hour;
    hour.disabled = !settings.enabled;
  }

  const save = (changes) => attempt(async () => {
    show(await api.setSummarySettings(changes));
    find("[role=status]", section).textContent = t("Saved.");
  });

  enabled.addEventListener("change", () => save({ enabled: enabled.checked }));
  hour.addEventListener("change", () => save({ hour: Number(hour.value) }));
  return { reload: () => attempt(async () => show(await api.summarySettings())) };
}
