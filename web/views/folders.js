// Folders: created, renamed, ordered and deleted; each leads to its conversations.

import { el, find, iconButton, onSubmit } from "../dom.js";
import { t, tn } from "../i18n.js";
import { edit } from "./edit.js";
import { nameOf } from "./folder_choice.js";
import { listing } from "./listing.js";
import { removeLater } from "./throwing_away.js";

/** Returns `{reload}`; `open(id)` shows the conversations of a folder. */
export function startFolders({ api, open }) {
  const view = find("#folders");
  const form = find("form", view);
  let count = 0;
  const { reload, attempt } = listing(view, { page: async () => {
    const items = await api.folders();
    count = items.length;
    return { items, next: null };
  }, row });

  function row(folder) {
    const { id, order, conversation_count: size } = folder;
    const name = nameOf(folder);
    const title = el("button", { type: "button", class: "pick", onclick: () => open(id) }, el("span", { class: "content", dir: "auto" }, name));
    return el("li", { "data-id": id }, title,
      el("div", { class: "tools" },
        order > 0 && iconButton("earlier", t("Move up: {name}", { name }), () => move(id, order - 1, "earlier"), { "data-direction": "earlier" }),
        order < count - 1 && iconButton("later", t("Move down: {name}", { name }), () => move(id, order + 1, "later"), { "data-direction": "later" }),
        iconButton("pen", t("Rename {name}", { name }), () => edit(title, { label: t("Name"), text: folder.name }, (text) => change(() => api.changeFolder(id, { name: text })))),
        !folder.is_default && iconButton("bin", t("Delete {name}", { name }), () => removeLater({ id, title: name }, api.deleteFolder, reload))),
      el("p", { class: "meta" }, conversationCount(size)));
  }

  const change = (act) => attempt(async () => {
    await act();
    await reload();
  });

  async function move(id, place, direction) {
    await change(() => api.changeFolder(id, { order: place }));
    const tools = [...view.querySelectorAll(`[data-id="${CSS.escape(id)}"] .tools button`)];
    (tools.find((button) => button.dataset.direction === direction) ?? tools[0])?.focus();
  }

  onSubmit(form, () => {
    const name = find("input", form).value.trim();
    if (name) return change(async () => {
      await api.addFolder(name);
      form.reset();
    });
  });
  return { reload };
}

const conversationCount = (count) => tn({ one: "{n} conversation", other: "{n} conversations" }, count);
