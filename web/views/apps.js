// The directory of apps: installed, own and other ones with their permissions, connected accounts, and what the chat may call.

import { attempting, el, find, linkOut, moveTo } from "../dom.js";
import { t, tag, tn } from "../i18n.js";
import { moment, plainly } from "../words.js";
import { startConnections } from "./connections.js";
import { startGrants } from "./grants.js";
import { startMcp } from "./mcp.js";
import { permissions, unallowed } from "./permissions.js";

const LIST = new Intl.ListFormat(tag);
const INSTALLED = t("Installed");
const OWN = t("Yours");
const OTHER = t("More apps");

/** Returns `{reload}`; `develop(id)` opens the developer page of an own app. */
export function startApps({ api, develop }) {
  const view = find("#apps");
  const more = find(".more", view);
  const attempt = attempting(find(".problem", view));
  const grants = startGrants({ api });
  const connections = startConnections({ api, onChange: grants.reload });

  let apps = new Map();
  let listeners = new Map();
  let cursor;

  const reload = () => Promise.all([list(), connections.reload(), grants.reload()]);

  // Reloads as many apps as are shown, so that a change keeps the reader's place.
  const list = () => attempt(async () => {
    const loaded = new Map();
    listeners = new Map((await api.liveListeners()).map((each) => [each.app_id, each]));
    let next;
    do next = await load(loaded, next); while (next && loaded.size < apps.size);
    show(loaded, next);
  });

  // Adds the page after the cursor `from`, and returns the next cursor.
  async function load(loaded, from) {
    const { items, next } = await api.apps(from);
    for (const app of items.toSorted(byName)) loaded.set(app.id, app);
    return next;
  }

  function show(loaded, next) {
    [apps, cursor] = [loaded, next];
    const groups = Map.groupBy(apps.values(), groupOf);
    const open = new Set([...view.querySelectorAll("[data-id]:has(details[open])")].map((shown) => shown.dataset.id));
    find(".groups", view).replaceChildren(...[INSTALLED, OWN, OTHER].filter((name) => groups.has(name)).flatMap((name) =>
      [el("h3", {}, name), el("ul", { class: "rows" }, ...groups.get(name).map((app) => row(app, open.has(app.id))))]));
    find(".empty", view).hidden = apps.size > 0;
    more.hidden = !cursor;
  }

  more.addEventListener("click", () => attempt(async () => {
    const [shown, loaded] = [apps, new Map(apps)];
    show(loaded, await load(loaded, cursor));
    const added = [...loaded.keys()].filter((id) => !shown.has(id));
    find("[role=status]", view).textContent = tn({ one: "{n} more app is shown.", other: "{n} more apps are shown." }, added.length);
    if (added.length) moveTo(find(`[data-id="${CSS.escape(added[0])}"]`, view));
  }));

  function row(app, isOpen) {
    const { id, description, enabled } = app;
    const name = plainly(app.name);
    return el("li", { "data-id": id },
      el("span", { class: "content", dir: "auto" }, logo(app), name, ...badges(app)),
      el("button", { type: "button", class: enabled ? null : "primary", "aria-label": enabled ? t("Uninstall {name}", { name }) : t("Install {name}", { name }), onclick: () => toggle(app) },
        enabled ? t("Uninstall") : t("Install")),
      description && el("p", { class: "meta", dir: "auto" }, plainly(description)),
      app.switched_off && el("p", { class: "problem" }, t("It is switched off because its calls failed.")),
      permissions(api, app, isOpen),
      allowRow(app),
      heardRow(listeners.get(id)),
      ...steps(app),
      isOwn(app) && el("button", { type: "button", class: "quiet", onclick: () => develop(id) }, t("Develop")));
  }

  const toggle = (app) => attempt(async () => {
    const { id, name, enabled } = app;
    await (enabled ? api.uninstallApp(id) : api.installApp(app));
    await list();
    find("[role=status]", view).textContent = enabled ? t("{name} is uninstalled.", { name }) : t("{name} is installed: your next question can use it.", { name });
    find(`[data-id="${CSS.escape(id)}"] button`, view)?.focus();
    await grants.reload();
  });

  // A permission that an app declares after its installation stays off until its user allows it.
  function allowRow(app) {
    const words = unallowed(app);
    return words.length > 0 && el("p", { class: "meta" }, t("Not allowed yet: {permissions}.", { permissions: LIST.format(words) }), " ",
      el("button", { type: "button", class: "quiet", "aria-label": t("Allow {name} that", { name: app.name }), onclick: () => allow(app) }, t("Allow")));
  }

  const allow = (app) => attempt(async () => {
    await api.installApp(app);
    await list();
    find("[role=status]", view).textContent = t("{name} is now allowed to do that.", { name: app.name });
    find(`[data-id="${CSS.escape(app.id)}"] button`, view)?.focus();
  });

  startMcp({ api, onAdded: list });
  find("#develop").addEventListener("click", () => develop(""));
  return { reload };
}

// Pictures come from this origin, however its address is written.
const logo = ({ image }) => el("img", { class: "logo", src: new URL(image).pathname, alt: "", width: 24, height: 24, loading: "lazy" });

// The server sends an app's secret to its developer alone.
const isOwn = (app) => "signing_secret" in app;
const groupOf = (app) => (app.enabled ? INSTALLED : isOwn(app) ? OWN : OTHER);
const byName = (one, other) => one.name.localeCompare(other.name);

function badges(app) {
  const words = [app.private && t("private"), app.enabled && isOwn(app) && t("yours")].filter(Boolean);
  return words.map((word) => el("span", { class: "badge" }, word));
}

// What an app was sent while it was said.
const heardRow = (sent) => sent && el("p", { class: "meta" }, t("Sent live so far: {lines} lines, {seconds} seconds of sound; last {time}.",
  { lines: sent.lines, seconds: sent.sound_s, time: moment(sent.last_at) }));

// Links where the app's users sign in with it.
function steps({ enabled, external_integration: { auth_steps: declared } }) {
  if (!enabled) return [];
  return declared.filter(({ url }) => url).map(({ name, url }) => el("p", { class: "meta" }, linkOut(url, name || t("Connect your account there"))));
}
