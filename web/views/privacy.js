// Settings of privacy and of pushes: what models read, whether apps may know the place, and how often they may push.

import { attempting, find } from "../dom.js";
import { t } from "../i18n.js";

const PUSHES_A_DAY = [0, 2, 5, 10, 20]; // by frequency; the last one, 5, has no bound

export function startPrivacy({ api }) {
  const masks = find("#masks-private-data");
  const place = find("#place-shared");
  const frequency = find("#push-frequency");
  const attempt = attempting(find("#settings-privacy .problem"));
  const attemptPushes = attempting(find("#settings-notifications .problem"));
  frequency.append(...PUSHES_A_DAY.map((count, at) => new Option(count ? t("at most {count} a day", { count }) : t("never"), at)),
    new Option(t("as often as they like"), PUSHES_A_DAY.length));

  const tellSaved = () => (find("#settings-privacy [role=status]").textContent = t("Saved."));

  masks.addEventListener("change", () => attempt(async () => {
    await api.setProfile({ masks_private_data: masks.checked });
    tellSaved();
  }));
  place.addEventListener("change", () => attempt(async () => {
    await api.setPlaceShared(place.checked);
    tellSaved();
  }));
  frequency.addEventListener("change", () => attemptPushes(async () => {
    await api.setPushFrequency(Number(frequency.value));
    find("#settings-notifications [role=status]").textContent = t("Saved.");
  }));
  return { reload: () => Promise.all([
    attempt(async () => {
      const profile = await api.profile();
      masks.checked = profile.masks_private_data;
      place.checked = profile.is_place_shared;
      masks.disabled = place.disabled = false;
    }),
    attemptPushes(async () => {
      frequency.value = (await api.pushFrequency()).frequency;
      frequency.disabled = false;
    }),
  ]) };
}
