// Permissions of an app, and its tools.

import { el } from "../dom.js";
import { plainly, toolName } from "../words.js";

const WORDS = {
  create_conversation: "adds conversations to your library",
  create_facts: "adds memories",
  read_memories: "reads your memories",
  read_conversations: "reads your conversations",
  read_tasks: "reads your tasks",
  hear_conversations: "receives your new conversations",
};

/** A disclosure that loads the app's tools when it is opened. */
export function permissions(api, app) {
  const list = el("ul", { class: "permissions", "aria-live": "polite" });
  const node = el("details", {}, el("summary", { "aria-label": `What ${app.name} may do` }, "What it may do"), list);
  node.addEventListener("toggle", async () => {
    if (!node.open || list.childElementCount) return;
    try {
      list.replaceChildren(...(await api.appTools(app.id)).map(tool), ...outsideChat(app));
    } catch (problem) {
      list.replaceChildren(el("li", { class: "problem" }, problem.message));
    }
  });
  return node;
}

const CLASSES = { read: "only reads", write: "asks first", sensitive: "asks each time" };

/** One tool, and when its user is asked about a call. */
export function tool({ name, description, tool_class }) {
  return el("li", {},
    el("span", { class: "content" }, toolName(name)),
    el("span", { class: tool_class === "sensitive" ? "badge acts" : "badge" }, CLASSES[tool_class]),
    el("p", { class: "meta" }, plainly(description)));
}

/** Permissions that an installed app declares and its user has not allowed, as text. */
export function unallowed({ enabled, permissions: declared, granted_permissions: granted }) {
  return enabled ? declared.filter((one) => !granted.includes(one)).map((one) => WORDS[one]) : [];
}

// Permissions outside the chat. An app's key always lets it send notifications.
function outsideChat({ permissions: declared }) {
  const words = [...declared.map((one) => WORDS[one]), "may send you notifications"];
  return words.map((text) => el("li", {}, el("span", { class: "content" }, text)));
}
