// The developer page: apps of one's own are registered, checked and looked after.

import { attempting, el, find } from "../dom.js";
import { calls } from "./developer/calls.js";
import { keys } from "./developer/keys.js";
import { manifest } from "./developer/manifest.js";
import { secret } from "./developer/secret.js";

/** Returns `open(id)`, which shows that app, without an id the first one, or else the form for a new one. */
export function startDeveloper({ api, onChange }) {
  const view = find("#developer");
  const form = find("form", view);
  const choice = find("select", view);
  const page = find(".page", view);
  const attempt = attempting(find(".problem", view));

  const open = (wanted) => attempt(async () => {
    const own = (await api.apps()).filter((app) => "signing_secret" in app);
    const app = own.find(({ id }) => id === wanted) ?? (wanted === undefined ? own[0] : undefined);
    choice.replaceChildren(...own.map(({ id, name }) => new Option(name, id)), new Option("Register an app…", ""));
    choice.value = app?.id ?? "";
    form.hidden = Boolean(app);
    page.replaceChildren(...(app ? parts(app) : []));
  });

  function parts(app) {
    const shown = { api, app, attempt };
    return [
      el("h3", {}, app.name, app.private && el("span", { class: "badge" }, "private")),
      el("p", { class: "meta" }, "App id ", el("code", {}, app.id)),
      manifest(shown), calls(shown), keys(shown), secret(shown),
      el("button", { type: "button", class: "danger", onclick: () => remove(app) }, "Delete this app"),
    ];
  }

  function remove({ id, name }) {
    if (!confirm(`Delete “${name}”? Whoever installed it loses it, and its keys end.`)) return;
    attempt(async () => {
      await api.deleteApp(id);
      await open();
      onChange();
      choice.focus();
    });
  }

  const register = () => attempt(async () => {
    const { id } = await api.registerApp(registration(new FormData(form)));
    form.reset();
    await open(id);
    onChange();
    choice.focus();
  });

  choice.addEventListener("change", () => open(choice.value));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    register();
  });
  return open;
}

function registration(given) {
  return {
    name: given.get("name"),
    description: given.get("description"),
    private: given.has("private"),
    capabilities: ["external_integration"],
    external_integration: {
      app_home_url: given.get("home") || null,
      chat_tools_manifest_url: given.get("manifest") || null,
    },
  };
}
