// Notification settings: all apps, single apps, quiet hours. Every change is saved at once.

import { attempting, el, find } from "../dom.js";
import { t } from "../i18n.js";

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const AT_THE_END = "end";
const NEVER = "never";

export function startPreferences({ api }) {
  const node = find("#preferences");
  const form = find("form", node);
  const { enabled, quiet, from, to, digest } = form.elements;
  const attempt = attempting(find(".problem", node));

  digest.append(
    new Option(t("in one notification, at their end"), AT_THE_END),
    ...HOURS.map((hour) => new Option(t("in one notification, at {time}", { time: `${String(hour).padStart(2, "0")}:00` }), hour)),
    new Option(t("not at all: keep it in the inbox"), NEVER));

  const load = () => attempt(async () => {
    const [preferences, { items: apps }] = await Promise.all([api.preferences(), api.apps()]);
    show(preferences);
    form.inert = false;
    find(".apps", form).replaceChildren(...apps.filter((app) => app.enabled || isMuted(app, preferences)).map((app) => choice(app, preferences)));
  });

  let saving = Promise.resolve();

  function show({ enabled: any, quiet_hours: hours, digest: together, digest_hour: hour }) {
    enabled.checked = any;
    quiet.checked = Boolean(hours);
    if (hours) [from.value, to.value] = [hours.from, hours.to];
    digest.value = together ? hour ?? AT_THE_END : NEVER;
    find(".hours", form).disabled = !hours;
  }

  const choice = ({ id, name }, preferences) => el("label", { class: "check" },
    el("input", { type: "checkbox", name: "app", value: id, checked: !isMuted({ id }, preferences) }), el("span", { dir: "auto" }, name));

  function readForm() {
    const apps = [...form.querySelectorAll("[name=app]")];
    return {
      enabled: enabled.checked,
      muted_apps: apps.filter(({ checked }) => !checked).map(({ value }) => value),
      quiet_hours: quiet.checked ? { from: from.value, to: to.value } : null,
      digest: digest.value !== NEVER,
      digest_hour: [AT_THE_END, NEVER].includes(digest.value) ? null : Number(digest.value),
    };
  }

  const save = () => attempt(async () => {
    await api.setPreferences(readForm());
    find("[role=status]", form).textContent = t("Saved.");
  });

  // Saved one after the other, so that the last change arrives last; a half-typed time is not saved.
  form.addEventListener("change", () => {
    find(".hours", form).disabled = !quiet.checked;
    if (form.checkValidity()) saving = saving.then(save);
  });
  node.addEventListener("toggle", () => node.open && load());
}

const isMuted = ({ id }, preferences) => preferences.muted_apps.includes(id);
