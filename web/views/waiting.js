// Waiting for others: tasks that others promised or were asked for, and those whose owner nobody knows.

import { el, find, iconButton } from "../dom.js";
import { t } from "../i18n.js";
import { due } from "../words.js";
import { listing } from "./listing.js";

/** `change(task, changes)` stores a change and reloads both lists. */
export function startWaiting({ api, read, change }) {
  const section = find("#waiting");
  const { reload } = listing(section, { page: api.othersTasks, row });

  function row(task) {
    const box = el("input", { type: "checkbox", checked: task.completed, onchange: () => change(task, { completed: box.checked }) });
    return el("li", { class: task.completed ? "done" : null },
      el("label", { class: "check" }, box, el("span", { class: "content", dir: "auto" }, `${nameOf(task)}: ${task.description}`)),
      el("div", { class: "tools" },
        task.conversation_id && iconButton("open", t("Open the conversation: {text}", { text: task.description }), () => read(task.conversation_id)),
        el("button", { type: "button", class: "quiet", "aria-label": t("Mine: {text}", { text: task.description }), onclick: () => change(task, { owner: "me" }) }, t("Mine"))),
      task.due_at && el("p", { class: "meta" }, t("due {time}", { time: due(task.due_at) })));
  }

  return { reload: async () => {
    await reload();
    section.hidden = !find(".rows", section).childElementCount;
  } };
}

const nameOf = ({ owner, owner_name: name }) => name || (owner === "other" ? t("Somebody") : t("Unknown"));
