// Choosing of conversations in the library, to merge them or move them into a folder.

import { attempting, el, find } from "../dom.js";
import { t } from "../i18n.js";
import { nameOf } from "./folder_choice.js";

const NO_FOLDER = "none";

/** Returns `box(conversation)`, a checkbox that chooses it, and `reset()`; `onMerged(merge)` and `onMoved()` are called afterwards. */
export function startChoosing({ api, folders, onMerged, onMoved }) {
  const view = find("#library");
  const toggle = find("#choose");
  const tools = find("#chosen");
  const merge = find(".merge", tools);
  const move = find(".move", tools);
  const attempt = attempting(find(".list-problem"));
  const chosen = new Map();

  const box = (conversation) => {
    const title = conversation.structured?.title || t("Untitled conversation");
    return el("input", { type: "checkbox", class: "choice-box", "aria-label": t("Choose: {title}", { title }), checked: chosen.has(conversation.id), onchange: ({ target }) => {
      if (target.checked) chosen.set(conversation.id, { ...conversation, title });
      else chosen.delete(conversation.id);
      update();
    } });
  };

  function update() {
    merge.disabled = chosen.size < 2;
    move.disabled = !chosen.size;
    merge.textContent = chosen.size < 2 ? t("Merge") : t("Merge {count}", { count: chosen.size });
  }

  function reset() {
    chosen.clear();
    update();
  }

  async function showTools(isOn) {
    view.toggleAttribute("data-choosing", isOn);
    toggle.setAttribute("aria-pressed", String(isOn));
    tools.hidden = !isOn;
    if (!isOn) return;
    const known = await folders.list();
    move.replaceChildren(new Option(t("Move to…"), ""), ...known.map((folder) => new Option(nameOf(folder), folder.id)), new Option(t("No folder"), NO_FOLDER));
  }

  async function mergeChosen() {
    if (!(await mayMerge([...chosen.values()]))) return;
    const merged = await api.mergeConversations([...chosen.keys()]);
    reset();
    await onMerged(merged);
  }

  async function moveChosen(folder) {
    const ids = [...chosen.keys()];
    if (folder === NO_FOLDER) await Promise.all(ids.map(api.leaveFolder));
    else await api.moveToFolder(folder, ids);
    reset();
    await onMoved();
  }

  toggle.addEventListener("click", () => attempt(() => showTools(tools.hidden)));
  merge.addEventListener("click", () => attempt(mergeChosen));
  move.addEventListener("change", () => attempt(async () => {
    const folder = move.value;
    move.value = "";
    if (folder) await moveChosen(folder);
    toggle.focus();
  }));
  return { box, reset };
}

// A merge can be undone for an hour, but links to what is merged end.
export async function mayMerge(conversations) {
  const shared = conversations.filter(({ visibility }) => visibility !== "private");
  if (!shared.length) return true;
  const { isSure } = await import("./asking.js");
  return isSure(shared.map(({ title }) => t("The link to “{title}” ends then.", { title })).join(" "), t("Merge"));
}
