// What guides the answers of the open chat: its focus mode, which can be switched, its agent and its exercise.

import { attempting, el, find } from "../dom.js";
import { t } from "../i18n.js";

/** Returns `follow(chat)`, which shows the guides of the chat that is open. */
export function startChatGuides({ api }) {
  const bar = find("#chat-guides");
  const choice = find("select", bar);
  const agentName = find(".agent-name", bar);
  const attempt = attempting(find("#chat-link-problem"));
  const disclosure = find("#chat-support");
  let shown = null;
  let support = null;

  const follow = (chat) => attempt(async () => {
    shown = chat;
    if (support || chat.exercise) await showSupport();
    const [modes, agent] = await Promise.all([api.focusModes(), chat.agent_id ? findAgent(chat.agent_id) : null]);
    if (shown !== chat) return;
    choice.replaceChildren(el("option", { value: "" }, t("No focus mode")),
      ...modes.map(({ id, name }) => el("option", { value: id, selected: id === chat.focus_mode_id }, name)));
    choice.hidden = modes.length === 0;
    agentName.textContent = agent ? t("With {name}", { name: [agent.emoji, agent.name].filter(Boolean).join(" ") }) : "";
    bar.hidden = choice.hidden && !agent;
  });

  // The agent of a chat may be deleted meanwhile: the chat goes on without it.
  const findAgent = (id) => api.agent(id).catch((problem) => {
    if (problem.status === 404) return null;
    throw problem;
  });

  const loadSupport = async () => (await import("./chat_support.js")).startChatSupport({ api });
  const showSupport = async () => {
    support ??= loadSupport().catch((problem) => {
      support = null;
      throw problem;
    });
    (await support).show(shown);
  };
  disclosure.addEventListener("toggle", () => disclosure.open && attempt(showSupport));

  choice.addEventListener("change", () => attempt(() => api.setFocus(shown.id, choice.value || null)));
  return { follow };
}
