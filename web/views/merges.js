// Merges that can still be undone: a line for each, above the library.

import { attempting, el, find } from "../dom.js";
import { t, tn } from "../i18n.js";
import { hour } from "../words.js";

/** Returns `{show(), add(merge)}`; `onUndone()` is called after a merge was undone. */
export function startMerges({ api, onUndone }) {
  const list = find("#merges");
  const attempt = attempting(find(".list-problem"));

  function add(merge) {
    const line = row(merge);
    list.prepend(line);
    find("button", line).focus();
  }

  const row = ({ merged_conversation_id: id, conversation_ids: sources, can_be_undone_until: until }) => {
    const count = tn({ one: "{n} conversation became one.", other: "{n} conversations became one." }, sources.length);
    const line = el("li", {}, el("span", { role: "status" }, `${count} ${t("You can undo it until {time}.", { time: hour(until) })}`),
      el("button", { type: "button", class: "quiet", onclick: () => attempt(async () => {
        await api.undoMerge(id);
        line.remove();
        await onUndone();
      }) }, t("Undo")));
    return line;
  };

  const show = async () => list.replaceChildren(...(await api.merges().catch(() => [])).map(row));
  return { show, add };
}
