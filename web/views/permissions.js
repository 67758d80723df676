// What an app may do once it is installed.

import { el } from "../dom.js";

const WORDS = {
  create_conversation: "adds conversations to your library",
  create_facts: "adds memories",
  read_memories: "reads your memories",
  read_conversations: "reads your conversations",
  read_tasks: "reads your tasks",
  hear_conversations: "is told of your new conversations",
};

/** A disclosure that asks for the app's tools when it is opened. */
export function permissions(api, app) {
  const list = el("ul", { class: "may", "aria-live": "polite" });
  const node = el("details", {}, el("summary", { "aria-label": `What ${app.name} may do` }, "What it may do"), list);
  node.addEventListener("toggle", async () => {
    if (!node.open || list.childElementCount) return;
    try {
      list.replaceChildren(...(await api.appTools(app.id)).map(tool), ...beyond(app));
    } catch (problem) {
      list.replaceChildren(el("li", { class: "problem" }, problem.message));
    }
  });
  return node;
}

/** One tool, and whether it only reads or acts. */
export function tool({ name, description, side_effect }) {
  return el("li", {},
    el("span", { class: "content" }, name.replaceAll("_", " ")),
    el("span", { class: side_effect ? "badge acts" : "badge" }, side_effect ? "acts" : "reads"),
    el("p", { class: "meta" }, description));
}

/** What an installed app asks for that its user has not allowed yet, in words. */
export function unallowed({ enabled, permissions: wanted, granted_permissions: granted }) {
  return enabled ? wanted.filter((one) => !granted.includes(one)).map((one) => WORDS[one]) : [];
}

// What it does by itself, without being asked in the chat; whatever it declares, its key lets it notify.
function beyond({ permissions: wanted }) {
  const words = [...wanted.map((one) => WORDS[one]), "may send you notifications"];
  return words.map((text) => el("li", {}, el("span", { class: "content" }, text)));
}
