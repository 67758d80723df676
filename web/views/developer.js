// The developer page: register, check and change own apps.

import { attempting, el, find, onSubmit } from "../dom.js";
import { t } from "../i18n.js";
import { isSure } from "./asking.js";
import { calls } from "./developer/calls.js";
import { manifest } from "./developer/manifest.js";
import { fill, readForm } from "./developer/settings.js";
import { secret } from "./developer/secret.js";
import { keys } from "./keys.js";
import { askingForLocal } from "./local_address.js";

const CAPABILITIES = ["external_integration"];

/** Returns `open(id)`, which shows that app, without an id the first one, or else the form for a new one. */
export function startDeveloper({ api, onChange }) {
  const view = find("#developer");
  const settings = find("#app-settings");
  const form = find("form", settings);
  const choice = find("select", view);
  const page = find(".page", view);
  const attempt = attempting(find(".problem", view));
  let shown;

  const open = (requested) => attempt(async () => {
    const own = (await api.apps()).items.filter((app) => "signing_secret" in app);
    const app = own.find(({ id }) => id === requested) ?? (requested === undefined ? own[0] : undefined);
    choice.replaceChildren(...own.map(({ id, name }) => new Option(name, id)), new Option(t("Register an app…"), ""));
    choice.value = app?.id ?? "";
    shown = app;
    settings.open = !app;
    find("summary", settings).textContent = app ? t("App settings") : t("New app");
    find("button", form).textContent = app ? t("Save") : t("Register");
    fill(form, app);
    page.replaceChildren(...(app ? parts(app) : []));
  });

  function parts(app) {
    const part = { api, app, attempt };
    return [
      el("h3", {}, el("span", { dir: "auto" }, app.name), app.private && el("span", { class: "badge" }, t("private"))),
      el("p", { class: "meta" }, t("App id"), " ", el("code", {}, app.id)),
      manifest(part), calls(part), keySection(app), secret(part),
      el("button", { type: "button", class: "danger", onclick: () => remove(app) }, t("Delete this app")),
    ];
  }

  const keySection = ({ id }) => keys({
    heading: t("Keys"),
    list: () => api.appKeys(id),
    create: async () => (await api.createAppKey(id)).secret,
    revoke: (key) => api.revokeAppKey(id, key),
    attempt,
  });

  const remove = ({ id, name }) => attempt(async () => {
    if (!(await isSure(t("Delete “{name}”? It is removed for all its users, and its keys stop working.", { name }), t("Delete this app")))) return;
    await api.deleteApp(id);
    await open();
    onChange();
    choice.focus();
  });

  const save = () => attempt(async () => {
    const app = readForm(form, shown);
    const { id } = await askingForLocal((leave) => (shown
      ? api.changeApp(shown.id, { ...app, ...leave })
      : api.registerApp({ ...app, ...leave, capabilities: CAPABILITIES })));
    await open(id);
    onChange();
    choice.focus();
  });

  choice.addEventListener("change", () => open(choice.value));
  onSubmit(form, save);
  return open;
}
