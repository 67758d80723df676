// Tool grants: what the chat may call, with a switch for each tool.

import { attempting, el, find } from "../dom.js";
import { describeSource, plainly, toolName } from "../words.js";

const DEFAULTS = { read: "runs", write: "asks", sensitive: "asks each time" };
const STANDINGS = { new: "New since you installed the app, so it asks.", changed: "Changed since you allowed it, so it asks." };
const NUMBER = new Intl.NumberFormat();

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
    const [{ source, maker, bits_today, bits_limit }] = grants;
    const name = plainly(source.name);
    return el("section", { "aria-label": name },
      el("h4", {}, name),
      el("p", { class: "meta" }, describeSource(source, maker)),
      el("p", { class: "meta" }, `Its maker was told ${NUMBER.format(Math.ceil(bits_today))} of ${NUMBER.format(bits_limit)} bits today without a question.`),
      el("ul", { class: "rows" }, ...grants.map(row)));
  }

  function row(grant) {
    const { source, tool, standing, state } = grant;
    const name = toolName(tool);
    const choice = el("select", { "aria-label": `Calls of ${name}`, onchange: () => change(grant, choice.value) },
      ...options(grant).map(([value, text]) => new Option(text, value, false, value === state)));
    return el("li", { "data-tool": `${source.id} ${tool}` },
      el("span", { class: "content" }, name),
      choice,
      standing in STANDINGS && state !== "off" && el("p", { class: "meta" }, `${STANDINGS[standing]} `,
        el("button", { type: "button", class: "quiet", "aria-label": `Accept ${name} as it is now`, onclick: () => change(grant, "default") }, "Accept")));
  }

  // Reloads after a refused change too, so that the switch shows what holds.
  async function change({ source: { kind, id }, tool, pin }, state) {
    const status = find("[role=status]", view);
    status.textContent = "";
    await attempt(async () => {
      try {
        await api.setToolGrant({ kind, id, tool, state, pin });
        status.textContent = `${toolName(tool)} is changed.`;
      } finally {
        await load();
        find(`[data-tool="${CSS.escape(`${id} ${tool}`)}"] select`, view)?.focus();
      }
    });
  }

  return { reload: () => attempt(load) };
}

function options({ tool_class, standing }) {
  const byClass = standing in STANDINGS ? "asks" : DEFAULTS[tool_class];
  const always = tool_class !== "sensitive" && ["always", "always allowed"];
  return [["default", byClass], always, ["off", "off"]].filter(Boolean);
}
