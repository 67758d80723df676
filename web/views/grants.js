// Tool grants: what the chat may call, with a switch for each tool.

import { attempting, el, find } from "../dom.js";
import { plainly, toolName } from "../words.js";
import { CLASSES } from "./permissions.js";

const STANDINGS = { new: "new since you installed it: asks", changed: "changed since you allowed it: asks" };

/** Returns `{reload}`. */
export function startGrants({ api }) {
  const view = find("#grants");
  const attempt = attempting(find(".problem", view));

  const reload = () => attempt(async () => {
    const groups = Map.groupBy(await api.toolGrants(), ({ source }) => `${source.kind} ${source.id}`);
    find(".groups", view).replaceChildren(...[...groups.values()].map(group));
    find(".empty", view).hidden = groups.size > 0;
  });

  function group(grants) {
    const [{ source, maker, bits_today, bits_limit }] = grants;
    return el("section", { "aria-label": plainly(source.name) },
      el("h4", {}, plainly(source.name)),
      el("p", { class: "meta" }, plainly(`${maker}; told ${Math.ceil(bits_today)} of ${bits_limit} bits today without a question`)),
      el("ul", { class: "rows" }, ...grants.map(row)));
  }

  function row(grant) {
    const { tool, tool_class, standing, state } = grant;
    const states = { default: STANDINGS[standing] ?? CLASSES[tool_class], always: "always allowed", off: "off" };
    if (tool_class === "sensitive") delete states.always;
    const choice = el("select", { "aria-label": `Calls of ${toolName(tool)}`, onchange: () => change(grant, choice.value) },
      ...Object.entries(states).map(([value, text]) => el("option", { value, selected: value === state }, text)));
    return el("li", {}, el("span", { class: "content" }, plainly(toolName(tool))), choice);
  }

  const change = ({ source: { kind, id }, tool }, state) => attempt(async () => {
    await api.setToolGrant({ kind, id, tool, state });
    await reload();
    find("[role=status]", view).textContent = `${toolName(tool)} is changed.`;
  });

  return { reload };
}
