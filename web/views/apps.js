// The directory: apps one has, made or may have, what each is allowed, and accounts at services beside them.

import { attempting, el, find, linkOut } from "../dom.js";
import { startConnections } from "./connections.js";
import { startMcp } from "./mcp.js";
import { permissions, unallowed } from "./permissions.js";

const INSTALLED = "Installed";
const OWN = "Yours";
const OTHER = "More apps";

/** Returns `{reload}`; `develop(id)` opens the developer page at an app of one's own. */
export function startApps({ api, develop }) {
  const view = find("#apps");
  const attempt = attempting(find(".problem", view));
  const connections = startConnections({ api });

  const reload = () => Promise.all([list(), connections.reload()]);
  const list = () => attempt(async () => {
    const apps = await api.apps();
    const groups = Map.groupBy(apps.toSorted(byName), groupOf);
    find(".groups", view).replaceChildren(...[INSTALLED, OWN, OTHER].filter((name) => groups.has(name)).flatMap((name) =>
      [el("h3", {}, name), el("ul", { class: "rows" }, ...groups.get(name).map(row))]));
    find(".empty", view).hidden = apps.length > 0;
  });

  function row(app) {
    const { id, name, description, enabled } = app;
    return el("li", { "data-id": id },
      el("span", { class: "content" }, name, ...badges(app)),
      el("button", { type: "button", class: enabled ? null : "primary", "aria-label": `${enabled ? "Uninstall" : "Install"} ${name}`, onclick: () => toggle(app) },
        enabled ? "Uninstall" : "Install"),
      description && el("p", { class: "meta" }, description),
      app.switched_off && el("p", { class: "problem" }, "It does not work at present and is not called."),
      permissions(api, app),
      asking(app),
      ...steps(app),
      isOwn(app) && el("button", { type: "button", class: "quiet", onclick: () => develop(id) }, "Develop"));
  }

  const toggle = ({ id, name, enabled }) => attempt(async () => {
    await (enabled ? api.uninstallApp(id) : api.installApp(id));
    await list();
    find("[role=status]", view).textContent = enabled ? `${name} is uninstalled.` : `${name} is installed: your next question can use it.`;
    find(`[data-id="${CSS.escape(id)}"] button`, view)?.focus();
  });

  // An app that began to ask for more since it was installed has no more until its user says so.
  function asking(app) {
    const words = unallowed(app);
    return words.length > 0 && el("p", { class: "meta" }, `Not allowed yet: it ${words.join(", ")}. `,
      el("button", { type: "button", class: "quiet", "aria-label": `Allow ${app.name} that`, onclick: () => allow(app) }, "Allow"));
  }

  const allow = ({ id, name }) => attempt(async () => {
    await api.installApp(id);
    await list();
    find("[role=status]", view).textContent = `${name} may do that from now on.`;
    find(`[data-id="${CSS.escape(id)}"] button`, view)?.focus();
  });

  startMcp({ api, onAdded: list });
  find("#develop").addEventListener("click", () => develop(""));
  return { reload };
}

// Only its developer is shown an app's secret.
const isOwn = (app) => "signing_secret" in app;
const groupOf = (app) => (app.enabled ? INSTALLED : isOwn(app) ? OWN : OTHER);
const byName = (one, other) => one.name.localeCompare(other.name);

function badges(app) {
  const words = [app.private && "private", app.enabled && isOwn(app) && "yours"].filter(Boolean);
  return words.map((word) => el("span", { class: "badge" }, word));
}

// Where the app wants its users to sign in with it.
function steps({ enabled, external_integration: { auth_steps: asked } }) {
  if (!enabled) return [];
  return asked.filter(({ url }) => url).map(({ name, url }) => el("p", { class: "meta" }, linkOut(url, name || "Connect your account there")));
}
