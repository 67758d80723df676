// Contents of a project: its files, which are added and taken out, and its chats.

import { attempting, el, find, iconButton } from "../dom.js";
import { t } from "../i18n.js";
import { upload } from "../uploads.js";
import { titleOf } from "./chats.js";
import { remains, removeLater } from "./throwing_away.js";

const POLL_MS = 2000;

/** Returns `{node, reload()}`, hidden and empty at first; `open(id)` opens a chat. */
export function projectContents({ api, id, open }) {
  const files = el("ul", { class: "items" });
  const chats = el("ul", { class: "items" });
  const chooser = el("input", { type: "file", multiple: true, onchange: () => addFiles([...chooser.files]) });
  const known = el("select", { "aria-label": t("Add a file that you gave before"), onchange: () => choose(known, (file) => api.addProjectFile(id, file)) });
  const others = el("select", { "aria-label": t("Move a chat here"), onchange: () => choose(others, (chat) => api.changeChat(chat, { project_id: id })) });
  const status = el("p", { class: "hint", role: "status" });
  const problem = el("p", { class: "problem", role: "alert", hidden: true });
  const attempt = attempting(problem);
  let timer;
  let latest = 0;
  const node = el("div", { class: "wide", hidden: true },
    el("h3", {}, t("Files")), files,
    el("label", { class: "file quiet" }, t("Add files"), chooser), known, status,
    el("h3", {}, t("Chats")), chats, others,
    el("button", { type: "button", onclick: () => attempt(begin) }, t("New chat in this project")), problem);

  const reload = () => attempt(load);

  // A list that arrives after a later one is old.
  async function load() {
    const ticket = ++latest;
    const [{ items: own }, { items: all }, sessions] = await Promise.all([api.projectFiles(id), api.files(), api.chats()]);
    if (ticket !== latest) return;
    const ownIds = own.map((file) => file.id);
    files.replaceChildren(...own.filter(remains).map(fileRow));
    offer(known, t("Add a file that you gave before"), all.filter(remains).filter((file) => !ownIds.includes(file.id)).map((file) => [file.id, file.name]));
    chats.replaceChildren(...sessions.filter((chat) => chat.project_id === id).map(chatRow));
    offer(others, t("Move a chat here"), sessions.filter((chat) => chat.project_id !== id && !chat.app_id).map((chat) => [chat.id, titleOf(chat)]));
    clearTimeout(timer);
    if (own.some((file) => file.status === "processing")) timer = setTimeout(() => node.checkVisibility() && reload(), POLL_MS);
  }

  const change = (act) => attempt(async () => {
    await act();
    await load();
  });

  async function choose(select, act) {
    const chosen = select.value;
    await change(() => act(chosen));
    select.focus();
  }

  function fileRow({ id: file, name, status: state, reason }) {
    return el("li", {}, el("span", { class: "content", dir: "auto" }, name),
      el("div", { class: "tools" },
        iconButton("close", t("Take {name} out of the project", { name }), () => change(() => api.takeOutFile(id, file))),
        iconButton("bin", t("Delete {name}", { name }), () => removeLater({ id: file, title: name }, api.deleteFile, reload))),
      state === "processing" && el("p", { class: "meta" }, t("Being read")),
      state === "rejected" && el("p", { class: "problem", lang: "en" }, reason));
  }

  function chatRow(chat) {
    const title = titleOf(chat);
    return el("li", {},
      el("button", { type: "button", class: "pick", onclick: () => open(chat.id) }, el("span", { class: "content", dir: "auto" }, title)),
      el("div", { class: "tools" },
        iconButton("close", t("Take {name} out of the project", { name: title }), () => change(() => api.changeChat(chat.id, { project_id: "" })))));
  }

  async function begin() {
    const { id: chat } = await api.beginChat({ project_id: id });
    open(chat);
    find("#question").focus();
  }

  // What was added before one that fails is shown.
  async function addFiles(chosen) {
    await attempt(async () => {
      for (const file of chosen) {
        status.textContent = t("Sending {file}", { file: file.name });
        const [{ id: added }] = await api.addFiles([await upload(api, file, () => {})]);
        await api.addProjectFile(id, added);
      }
    });
    status.textContent = "";
    chooser.value = "";
    await load().catch(() => {});
    chooser.focus();
  }

  return { node, reload };
}

// A choice that does something at once: nothing is chosen before, and without anything to choose it is hidden.
function offer(select, label, choices) {
  select.hidden = !choices.length;
  select.replaceChildren(new Option(label, ""), ...choices.map(([value, name]) => el("option", { value, dir: "auto" }, name)));
}
