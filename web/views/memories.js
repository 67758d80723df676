// Memories: each fact with the quotation that proves it and the facts it replaced.

import { el, find, iconButton, moveTo, onSubmit } from "../dom.js";
import { t, tn } from "../i18n.js";
import { day, originText } from "../words.js";
import { edit } from "./edit.js";
import { listing } from "./listing.js";
import { startMerging } from "./merge.js";
import { startRecall } from "./recall.js";
import { startRules } from "./rules.js";
import { throwAway } from "./throwing_away.js";

/** Returns `{reload}`; `read(id)` opens a conversation, `openChat(id, message)` a chat. */
export function startMemories({ api, read, openChat }) {
  const view = find("#memories");
  const form = find("form", view);
  const { reload, attempt } = listing(view, { page: api.memories, row });
  const merging = startMerging({ api, onMerged: async () => {
    await refresh();
    moveTo(find(".rows > li", view));
  } });

  async function refresh() {
    await reload();
    merging.reset();
  }

  function row(memory) {
    const content = el("span", { class: "content", dir: "auto" }, memory.said_to_owner);
    const change = (text) => attempt(async () => {
      await api.editMemory(memory.id, text);
      await refresh();
    });
    const remove = () => attempt(() => throwAway(api, "memories", { id: memory.id, title: memory.said_to_owner }, refresh));
    return el("li", {},
      el("label", { class: "check" }, merging.box(memory), content),
      el("div", { class: "tools" },
        iconButton("pen", t("Edit: {text}", { text: memory.said_to_owner }), () => edit(content, { label: t("Memory"), text: memory.content, long: true }, change)),
        iconButton("bin", t("Delete: {text}", { text: memory.said_to_owner }), remove)),
      el("p", { class: "meta" }, origin(memory)),
      details(memory));
  }

  function details({ id, said_to_owner: content, evidence, manually_added, conversation_id, segment, session_id, message_id }) {
    const superseded = el("ol", { class: "earlier", "aria-label": t("Earlier"), "aria-live": "polite" });
    const open = () => read(conversation_id, { segment });
    const node = el("details", {}, el("summary", { "aria-label": t("Source and history: {text}", { text: content }) }, t("Source and history")),
      evidence ? el("blockquote", { dir: "auto" }, evidence) : manually_added && el("p", { class: "meta" }, t("You wrote this memory.")),
      session_id && el("button", { type: "button", class: "quiet", onclick: () => openChat(session_id, message_id) }, t("Open the chat")),
      conversation_id && el("button", { type: "button", class: "quiet", onclick: open }, t("Open the conversation")),
      superseded);
    node.addEventListener("toggle", () => node.open && attempt(async () => {
      const history = await api.memoryHistory(id);
      superseded.replaceChildren(...history.map(supersededRow));
    }));
    return node;
  }

  onSubmit(form, () => {
    const text = find("input", form).value.trim();
    if (text) return attempt(async () => {
      await api.addMemory(text);
      form.reset();
      await refresh();
    });
  });
  const recall = startRecall({ api, onWiped: refresh });
  const rules = startRules({ api });
  find("#recall").before(rules.node);
  return { reload: () => Promise.all([refresh(), recall.reload(), rules.reload()]) };
}

function supersededRow({ said_to_owner: content, valid_to }) {
  return el("li", {}, el("span", { dir: "auto" }, content), valid_to && el("span", { class: "meta" }, " ", t("until {day}", { day: day(valid_to) })));
}

function origin({ app_id, conversation_id, session_id, created_at, mentions, edited, manually_added, read_kinds }) {
  const written = !app_id && !conversation_id && originText(read_kinds);
  const notes = [manually_added ? t("written by you") : written || (app_id ? t("written by an app") : session_id ? t("from a chat") : t("from a conversation")), day(created_at), mentions > 1 && tn({ one: "mentioned {n} time", other: "mentioned {n} times" }, mentions), edited && t("edited")];
  return notes.filter(Boolean).join(" · ");
}
