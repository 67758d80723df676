// The bin: what was thrown away here, until it is deleted for good.

import { el, find, iconButton } from "../dom.js";
import { t } from "../i18n.js";
import { day } from "../words.js";
import { listing } from "./listing.js";
import { settle } from "./throwing_away.js";

const KINDS = { conversations: t("Conversation"), memories: t("Memory"), action_items: t("Task") };

/** Returns `{reload}`; `onRestored(kind, id)` follows what came back. */
export function startBin({ api, onRestored }) {
  const { reload, attempt } = listing(find("#bin"), { page: async () => {
    await settle(); // what the line offers is in the list
    return { items: await api.bin() };
  }, row });

  function row({ kind, id, title, due_at: end }) {
    const text = title || t("Untitled conversation");
    const change = (act) => attempt(async () => {
      await act(kind, id);
      await reload();
    });
    const removal = iconButton("bin", t("Delete for good: {text}", { text }), () => {
      const sure = el("button", { type: "button", class: "danger", onclick: () => change(api.deleteFromBin) }, t("Delete for good"));
      removal.replaceWith(sure);
      sure.focus();
    });
    return el("li", {}, el("span", { class: "content", dir: "auto" }, text),
      el("div", { class: "tools" },
        iconButton("undo", t("Restore: {text}", { text }), () => change(async () => {
          await api.restore(kind, id);
          onRestored(kind, id);
        })), removal),
      el("p", { class: "meta" }, [KINDS[kind], t("is deleted on {day}", { day: day(end) })].join(" · ")));
  }
  return { reload };
}
