// Tool grants: what the chat may call, with a switch for each tool.

import { attempting, el, find } from "../dom.js";
import { formatNumber, t } from "../i18n.js";
import { describeSource, plainly, toolName } from "../words.js";

const DEFAULTS = { read: t("runs"), write: t("asks"), sensitive: t("asks each time") };
const STANDINGS = { new: t("New since you installed the app, so it asks."), changed: t("Changed since you allowed it, so it asks.") };

/** Returns `{reload}`. */
export function startGrants({ api }) {
  const view = find("#grants");
  const attempt = attempting(find(".problem", view));

  async function load() {
    const grants = await api.toolGrants();
    const sources = Map.groupBy(grants, ({ source }) => `${source.kind} ${source.id}`);
    find(".groups", view).replaceChildren(...[...sources.values()].map(group));
    find(".empty", view).hidden = grants.length > 0;
  }

  function group(grants) {
    const [{ source, maker, ...bits }] = grants;
    const name = plainly(source.name);
    return el("section", { "aria-label": t("Tools of {name}", { name }) },
      el("h4", { dir: "auto" }, name),
      el("p", { class: "meta" }, ...describeSource(source, maker)),
      el("p", { class: "meta" }, t("Its maker was told {told} of {limit} bits today without a question.", { told: formatNumber(Math.ceil(bits.bits_today + bits.clean_bits_today)), limit: formatNumber(bits.bits_limit + bits.clean_bits_limit) })),
      el("ul", { class: "rows" }, ...grants.map(row)));
  }

  function row(grant) {
    const { source, tool, standing, state } = grant;
    const name = toolName(tool);
    const choice = el("select", { "aria-label": t("Calls of {tool}", { tool: name }), onchange: () => change(grant, choice.value) },
      ...options(grant).map(([value, text]) => new Option(text, value, false, value === state)));
    return el("li", { "data-tool": `${source.id} ${tool}` },
      el("span", { class: "content", dir: "auto" }, name),
      choice,
      standing in STANDINGS && state !== "off" && el("p", { class: "meta" }, `${STANDINGS[standing]} `,
        el("button", { type: "button", class: "quiet", "aria-label": t("Accept {tool} as it is now", { tool: name }), onclick: () => change(grant, "default") }, t("Accept"))));
  }

  // Reloads after a refused change too, so that the switch shows what holds.
  async function change({ source: { kind, id }, tool, pin }, state) {
    const status = find("[role=status]", view);
    status.textContent = "";
    await attempt(async () => {
      try {
        await api.setToolGrant({ kind, id, tool, state, pin });
        status.textContent = t("{tool} is changed.", { tool: toolName(tool) });
      } finally {
        await load();
        find(`[data-tool="${CSS.escape(`${id} ${tool}`)}"] select`, view)?.focus();
      }
    });
  }

  return { reload: () => attempt(load) };
}

function options({ tool_class, allows_always: allowsAlways, standing }) {
  const byClass = standing in STANDINGS ? DEFAULTS.write : DEFAULTS[tool_class];
  const always = allowsAlways && ["always", t("always allowed")];
  return [["default", byClass], always, ["off", t("off")]].filter(Boolean);
}
