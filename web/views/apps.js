// The directory of apps: installed, own and other ones with their permissions, connected accounts, and what the chat may call.

import { attempting, el, find, linkOut, moveTo } from "../dom.js";
import { plainly } from "../words.js";
import { startConnections } from "./connections.js";
import { startGrants } from "./grants.js";
import { startMcp } from "./mcp.js";
import { permissions, unallowed } from "./permissions.js";

const INSTALLED = "Installed";
const OWN = "Yours";
const OTHER = "More apps";

/** Returns `{reload}`; `develop(id)` opens the developer page of an own app. */
export function startApps({ api, develop }) {
  const view = find("#apps");
  const more = find(".more", view);
  const attempt = attempting(find(".problem", view));
  const grants = startGrants({ api });
  const connections = startConnections({ api, onChange: grants.reload });

  let apps = new Map();
  let cursor;

  const reload = () => Promise.all([list(), connections.reload(), grants.reload()]);

  // Reloads as many apps as are shown, so that a change keeps the reader's place.
  const list = () => attempt(async () => {
    const loaded = new Map();
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
    find(".groups", view).replaceChildren(...[INSTALLED, OWN, OTHER].filter((name) => groups.has(name)).flatMap((name) =>
      [el("h3", {}, name), el("ul", { class: "rows" }, ...groups.get(name).map(row))]));
    find(".empty", view).hidden = apps.size > 0;
    more.hidden = !cursor;
  }

  more.addEventListener("click", () => attempt(async () => {
    const [shown, loaded] = [apps, new Map(apps)];
    show(loaded, await load(loaded, cursor));
    const added = [...loaded.keys()].filter((id) => !shown.has(id));
    find("[role=status]", view).textContent = `${added.length} more ${added.length === 1 ? "app is" : "apps are"} shown.`;
    if (added.length) moveTo(find(`[data-id="${CSS.escape(added[0])}"]`, view));
  }));

  function row(app) {
    const { id, description, enabled } = app;
    const name = plainly(app.name);
    return el("li", { "data-id": id },
      el("span", { class: "content" }, name, ...badges(app)),
      el("button", { type: "button", class: enabled ? null : "primary", "aria-label": `${enabled ? "Uninstall" : "Install"} ${name}`, onclick: () => toggle(app) },
        enabled ? "Uninstall" : "Install"),
      description && el("p", { class: "meta" }, plainly(description)),
      app.switched_off && el("p", { class: "problem" }, "It is switched off because its calls failed."),
      permissions(api, app),
      allowRow(app),
      ...steps(app),
      isOwn(app) && el("button", { type: "button", class: "quiet", onclick: () => develop(id) }, "Develop"));
  }

  const toggle = (app) => attempt(async () => {
    const { id, name, enabled } = app;
    await (enabled ? api.uninstallApp(id) : api.installApp(app));
    await list();
    find("[role=status]", view).textContent = enabled ? `${name} is uninstalled.` : `${name} is installed: your next question can use it.`;
    find(`[data-id="${CSS.escape(id)}"] button`, view)?.focus();
    await grants.reload();
  });

  // A permission that an app declares after its installation stays off until its user allows it.
  function allowRow(app) {
    const words = unallowed(app);
    return words.length > 0 && el("p", { class: "meta" }, `Not allowed yet: it ${words.join(", ")}. `,
      el("button", { type: "button", class: "quiet", "aria-label": `Allow ${app.name} that`, onclick: () => allow(app) }, "Allow"));
  }

  const allow = (app) => attempt(async () => {
    await api.installApp(app);
    await list();
    find("[role=status]", view).textContent = `${app.name} is now allowed to do that.`;
    find(`[data-id="${CSS.escape(app.id)}"] button`, view)?.focus();
  });

  startMcp({ api, onAdded: list });
  find("#develop").addEventListener("click", () => develop(""));
  return { reload };
}

// The server sends an app's secret to its developer alone.
const isOwn = (app) => "signing_secret" in app;
const groupOf = (app) => (app.enabled ? INSTALLED : isOwn(app) ? OWN : OTHER);
const byName = (one, other) => one.name.localeCompare(other.name);

function badges(app) {
  const words = [app.private && "private", app.enabled && isOwn(app) && "yours"].filter(Boolean);
  return words.map((word) => el("span", { class: "badge" }, word));
}

// Links where the app's users sign in with it.
function steps({ enabled, external_integration: { auth_steps: declared } }) {
  if (!enabled) return [];
  return declared.filter(({ url }) => url).map(({ name, url }) => el("p", { class: "meta" }, linkOut(url, name || "Connect your account there")));
}
