// Merging of memories: several become one, in a text that the user edits first.

import { el, find, onSubmit, say } from "../dom.js";
import { formatNumber, t } from "../i18n.js";

/** Returns `box(memory)`, a checkbox that chooses it, and `reset()`; `onMerged()` is called after a merge. */
export function startMerging({ api, onMerged }) {
  const button = find("#merge");
  const dialog = find("#merging");
  const form = find("form", dialog);
  const text = find("textarea", form);
  const chosen = new Map();

  const box = ({ id, content, said_to_owner: said }) => el("input", { type: "checkbox", "aria-label": t("Choose: {text}", { text: said }), onchange: ({ target }) => {
    if (target.checked) chosen.set(id, content);
    else chosen.delete(id);
    updateButton();
  } });

  function reset() {
    chosen.clear();
    updateButton();
  }

  function updateButton() {
    button.disabled = chosen.size < 2;
    button.textContent = chosen.size < 2 ? t("Merge") : t("Merge {count}", { count: formatNumber(chosen.size) });
  }

  async function merge() {
    try {
      await api.mergeMemories([...chosen.keys()], text.value.trim());
      dialog.close();
      await onMerged();
    } catch (problem) {
      say(find(".problem", form), problem);
    }
  }

  button.addEventListener("click", () => {
    text.value = [...chosen.values()].join(" ");
    say(find(".problem", form), "");
    dialog.showModal();
  });
  onSubmit(form, merge);
  find("[type=button]", form).addEventListener("click", () => dialog.close());
  return { box, reset };
}
