// Permissions of an app, and its tools.

import { el } from "../dom.js";
import { t } from "../i18n.js";
import { plainly, toolName } from "../words.js";

const WORDS = {
  create_conversation: t("adds conversations to your library"),
  create_facts: t("adds memories"),
  read_memories: t("reads your memories"),
  read_conversations: t("reads your conversations"),
  read_tasks: t("reads your tasks"),
  hear_conversations: t("receives your new conversations"),
  hear_live_words: t("receives what is said, while it is said"),
  hear_live_sound: t("receives live sound"),
  write_notifications: t("has notifications written from what is said"),
};

/** A disclosure that loads the app's tools when it is opened, or at once where it `isOpen`. */
export function permissions(api, app, isOpen) {
  const list = el("ul", { class: "permissions", "aria-live": "polite" });
  const node = el("details", {}, el("summary", { "aria-label": t("What {name} may do", { name: app.name }) }, t("What it may do")), list);
  node.addEventListener("toggle", async () => {
    if (!node.open || list.childElementCount) return;
    try {
      list.replaceChildren(...(await api.appTools(app.id)).map(tool), ...outsideChat(app));
    } catch (problem) {
      list.replaceChildren(el("li", { class: "problem", lang: problem.lang || null }, problem.message));
    }
  });
  node.open = isOpen;
  return node;
}

const CLASSES = { read: t("only reads"), write: t("asks first"), sensitive: t("asks each time") };

/** One tool, and when its user is asked about a call. */
export function tool({ name, description, tool_class }) {
  return el("li", {},
    el("span", { class: "content", dir: "auto" }, toolName(name)),
    el("span", { class: tool_class === "sensitive" ? "badge acts" : "badge" }, CLASSES[tool_class]),
    el("p", { class: "meta", dir: "auto" }, plainly(description)));
}

/** Permissions that an installed app declares and its user has not allowed, as text. */
export function unallowed({ enabled, permissions: declared, granted_permissions: granted }) {
  return enabled ? declared.filter((one) => !granted.includes(one)).map((one) => WORDS[one]) : [];
}

// Permissions outside the chat. An app's key always lets it send notifications.
function outsideChat({ permissions: declared }) {
  const words = [...declared.map((one) => WORDS[one]), t("may send you notifications")];
  return words.map((text) => el("li", {}, el("span", { class: "content" }, text)));
}
