// Tasks: added here, created in the chat, or found in a conversation; in groups by the day on which they are due.

import { el, find, iconButton, onSubmit } from "../dom.js";
import { t } from "../i18n.js";
import { daysUntil, due, originText } from "../words.js";
import { edit } from "./edit.js";
import { listing } from "./listing.js";
import { editTask } from "./task_form.js";
import { throwAway } from "./throwing_away.js";
import { startWaiting } from "./waiting.js";

const GROUPS = new Map([
  ["overdue", t("Overdue")], ["today", t("Today")], ["later", t("Later")], ["undated", t("Without a day")], ["done", t("Done")],
]);

/** `onChange(conversation)` follows a change of a task that was found in one. */
export function startTasks({ api, read, onChange }) {
  const view = find("#tasks");
  const form = find("form", view);
  const { reload: reloadOwn, attempt } = listing(view, { page: api.tasks, row, place });

  const change = (task, changes) => alter(task, () => api.changeTask(task.id, changes));
  const follow = (task) => Promise.all([reload(), onChange(task.conversation_id)]);
  const remove = (task) => attempt(() => throwAway(api, "action_items", { id: task.id, title: task.description }, () => follow(task)));
  const alter = (task, request) => attempt(async () => {
    await request();
    await follow(task);
  });
  const waiting = startWaiting({ api, read, change });
  const reload = () => Promise.all([reloadOwn(), waiting.reload()]);

  function row(task) {
    const description = el("span", { class: "content", dir: "auto" }, task.description);
    const box = el("input", { type: "checkbox", checked: task.completed, onchange: () => change(task, { completed: box.checked }) });
    const label = el("label", { class: "check" }, box, description);
    return el("li", { class: task.completed ? "done" : null, "data-due": task.completed ? null : task.due_at },
      label,
      el("div", { class: "tools" },
        task.conversation_id && iconButton("open", t("Open the conversation: {text}", { text: task.description }), () => read(task.conversation_id)),
        iconButton("pen", t("Edit: {text}", { text: task.description }), () => edit(description, { label: t("Task"), text: task.description }, (text) => change(task, { description: text }))),
        iconButton("timeline", t("When and whose: {text}", { text: task.description }), () => editTask(label, task, (changes) => change(task, changes))),
        iconButton("bin", t("Delete: {text}", { text: task.description }), () => remove(task))),
      task.due_at && el("p", { class: "meta" }, t("due {time}", { time: due(task.due_at) })),
      !task.conversation_id && task.read_kinds?.length > 0 && el("p", { class: "meta" }, originText(task.read_kinds)));
  }

  onSubmit(form, () => {
    const text = find("#task", form).value.trim();
    const day = find("#due", form).value;
    if (text) return attempt(async () => {
      await api.addTask({ description: text, due_at: day ? new Date(`${day}T23:59:59`).toISOString() : null });
      form.reset();
      await reload();
    });
  });
  return { reload };
}

function place(list, rows, tasks) {
  for (const name of GROUPS.keys()) {
    const added = rows.filter((_, at) => groupOf(tasks[at]) === name);
    if (!added.length) continue;
    const group = find(`[data-group=${name}] ul`, list) ?? addGroup(list, name);
    group.replaceChildren(...[...group.children, ...added].toSorted((one, other) => dueOf(one) - dueOf(other)));
  }
}

function groupOf({ completed, due_at: at }) {
  if (completed) return "done";
  if (!at) return "undated";
  return ["overdue", "today", "later"][Math.sign(daysUntil(at)) + 1];
}

function addGroup(list, name) {
  const group = el("section", { "data-group": name }, el("h3", {}, GROUPS.get(name)), el("ul", { class: "rows" }));
  const names = [...GROUPS.keys()];
  const next = [...list.children].find((other) => names.indexOf(other.dataset.group) > names.indexOf(name));
  list.insertBefore(group, next ?? null);
  return group.lastElementChild;
}

const dueOf = ({ dataset }) => Date.parse(dataset.due ?? 0);
