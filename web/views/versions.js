// The switch between versions of a message: ‹ 2 / 3 ›.

import { el, iconButton } from "../dom.js";
import { formatNumber, t } from "../i18n.js";

/** Returns the switch; null for a message without other versions. `show(id)` shows the version that is picked. */
export function versionSwitch({ id, metadata }, show) {
  const versions = metadata?.versions;
  const at = versions?.indexOf(id) ?? -1;
  if (at < 0) return null;
  const step = (name, label, to) => iconButton(name, label, () => show(versions[to]), { disabled: !(to in versions) });
  const values = { n: formatNumber(at + 1), count: formatNumber(versions.length) };
  return el("span", { class: "versions", role: "group", "aria-label": t("Version {n} of {count}", values) },
    step("previous", t("Previous version"), at - 1),
    el("span", { "aria-hidden": "true" }, `${values.n} / ${values.count}`),
    step("next", t("Next version"), at + 1));
}
