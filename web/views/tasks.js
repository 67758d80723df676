// Tasks: added here, created in the chat, or found in a conversation.

import { el, find, iconButton, onSubmit } from "../dom.js";
import { day } from "../words.js";
import { edit } from "./edit.js";
import { listing } from "./listing.js";

export function startTasks({ api, read }) {
  const view = find("#tasks");
  const form = find("form", view);
  const { reload, attempt } = listing(view, { page: api.tasks, row });

  const change = (task, changes) => attempt(async () => {
    await api.changeTask(task.id, changes);
    await reload();
  });

  function row(task) {
    const description = el("span", { class: "content" }, task.description);
    const box = el("input", { type: "checkbox", checked: task.completed, onchange: () => change(task, { completed: box.checked }) });
    return el("li", { class: task.completed ? "done" : null },
      el("label", { class: "check" }, box, description),
      el("div", { class: "tools" },
        task.conversation_id && iconButton("open", `Open the conversation: ${task.description}`, () => read(task.conversation_id)),
        iconButton("pen", `Edit: ${task.description}`, () => edit(description, { label: "Task", text: task.description }, (text) => change(task, { description: text }))),
        iconButton("bin", `Delete: ${task.description}`, () => remove(task))),
      task.due_at && el("p", { class: "meta" }, `due ${day(task.due_at)}`));
  }

  const remove = (task) => attempt(async () => {
    await api.deleteTask(task.id);
    await reload();
  });

  onSubmit(form, () => {
    const text = find("#task", form).value.trim();
    const due = find("#due", form).value;
    if (text) return attempt(async () => {
      await api.addTask({ description: text, due_at: due ? new Date(`${due}T23:59:59`).toISOString() : null });
      form.reset();
      await reload();
    });
  });
  return { reload };
}
