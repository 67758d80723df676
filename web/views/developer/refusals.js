// The tools of an app that models refuse, with the words of their servers.

import { el } from "../../dom.js";
import { tNodes } from "../../i18n.js";
import { moment } from "../../words.js";

export function refusals({ api, app, attempt }) {
  const node = el("ul", { class: "refused", hidden: true });
  attempt(async () => {
    const found = await api.modelRefusals(app.id);
    node.replaceChildren(...found.map(item));
    node.hidden = !found.length;
  });
  return node;
}

function item({ at, tool, model, words }) {
  return el("li", {},
    ...tNodes("The model {model} refuses the tool {tool}: {reason}", {
      model: el("span", { dir: "auto" }, model),
      tool: el("code", {}, tool),
      reason: el("span", { lang: "en", dir: "auto" }, words),
    }),
    " ", el("time", { class: "meta", datetime: at }, moment(at)));
}
