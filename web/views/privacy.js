// Settings of privacy and of pushes: whether apps may know the place, and how often they may push.

import { attempting, find } from "../dom.js";
import { t } from "../i18n.js";

const PUSHES_A_DAY = [0, 2, 5, 10, 20]; // by frequency; the last one, 5, has no bound

export function startPrivacy({ api }) {
  const place = find("#place-shared");
  const frequency = find("#push-frequency");
  const attempt = attempting(find("#settings-privacy .problem"));
  const attemptPushes = attempting(find("#settings-notifications .problem"));
  frequency.append(...PUSHES_A_DAY.map((count, at) => new Option(count ? t("at most {count} a day", { count }) : t("never"), at)),
    new Option(t("as often as they like"), PUSHES_A_DAY.length));

  place.addEventListener("change", () => attempt(async () => {
    await api.setPlaceShared(place.checked);
    find("#settings-privacy [role=status]").textContent = t("Saved.");
  }));
  frequency.addEventListener("change", () => attemptPushes(async () => {
    await api.setPushFrequency(Number(frequency.value));
    find("#settings-notifications [role=status]").textContent = t("Saved.");
  }));
  return { reload: () => Promise.all([
    attempt(async () => {
      place.checked = (await api.profile()).is_place_shared;
      place.disabled = false;
    }),
    attemptPushes(async () => {
      frequency.value = (await api.pushFrequency()).frequency;
      frequency.disabled = false;
    }),
  ]) };
}
