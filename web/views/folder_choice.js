// The choice of a folder above the library, and the folders it knows.

import { find } from "../dom.js";
import { t } from "../i18n.js";

/** Stands for the conversations that were discarded, where a folder does; no folder has this id. */
export const DISCARDED = "~discarded";

/** Returns `{choose(id), list()}`; `open(id)` shows a folder, all without one. */
export function startFolderChoice({ api, open }) {
  const choice = find("#folder");
  const [all, discarded] = choice.options;

  async function choose(id = "") {
    choice.value = id;
    const folders = await list().catch(() => []);
    choice.replaceChildren(all, ...folders.map((folder) => new Option(nameOf(folder), folder.id)), discarded);
    choice.value = id;
  }

  const list = () => api.folders();
  choice.addEventListener("change", () => open(choice.value || undefined));
  return { choose, list };
}

/** The name of a folder for people; those that everybody has are called by their language's word. */
export function nameOf({ name, icon, is_system: isSystem }) {
  const own = { Personal: t("Personal"), Work: t("Work"), Social: t("Social") };
  return `${/\p{ExtPict}/u.test(icon) ? `${icon} ` : ""}${(isSystem && own[name]) || name}`;
}
