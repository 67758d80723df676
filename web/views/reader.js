// One conversation, read beside the chat: what it came to, and every word of it.

import { citedSegments } from "../citations.js";
import { el, find, icon, iconButton } from "../dom.js";
import { moment, offset, speakerName } from "../words.js";

/** Returns `read(id, {question, answer})`; what that answer rests on is marked. */
export function reader(api) {
  const panel = find("#reader");
  let opener = null;
  let wanted = null;

  const close = () => {
    wanted = null;
    panel.hidden = true;
    opener?.focus();
  };
  find("header", panel).append(iconButton("close", "Close", close));
  panel.addEventListener("keydown", (event) => event.key === "Escape" && close());

  return async function read(id, { question = "", answer = "" } = {}) {
    if (!panel.contains(document.activeElement)) opener = document.activeElement;
    wanted = id;
    show(panel, "Opening…");
    try {
      const [conversation, passages] = await Promise.all([api.conversation(id), passagesFor(api, id, question)]);
      const cited = citedSegments(conversation.transcript_segments, passages, answer);
      if (wanted === id) show(panel, titleOf(conversation), ...contents(conversation, cited));
    } catch (problem) {
      if (wanted === id) show(panel, "Not to be opened", el("p", { class: "problem" }, problem.message));
    }
    find(".cited", panel)?.scrollIntoView({ block: "center" });
  };
}

function show(panel, title, ...nodes) {
  panel.hidden = false;
  find("h2", panel).textContent = title;
  const scroll = find(".scroll", panel);
  scroll.replaceChildren(...nodes);
  scroll.scrollTop = 0;
  find("h2", panel).focus({ preventScroll: true });
}

// Marks are a convenience: without them the conversation still opens.
async function passagesFor(api, id, question) {
  if (!question) return [];
  const { hits } = await api.passages(question).catch(() => ({ hits: [] }));
  return hits.find((hit) => hit.conversation_id === id)?.passages ?? [];
}

function titleOf({ structured }) {
  return `${structured?.emoji ?? ""} ${structured?.title || "Untitled conversation"}`.trim();
}

function contents(conversation, cited) {
  const { structured = {}, transcript_segments: segments = [] } = conversation;
  return [
    el("p", { class: "hint" }, moment(conversation.started_at)),
    structured.overview && el("p", {}, structured.overview),
    ...list("To do", "task", (structured.action_items ?? []).map((item) => item.description)),
    ...list("Coming up", "open", (structured.events ?? []).map((event) => `${event.title}, ${moment(event.start)}`)),
    el("h3", {}, "Transcript"),
    el("ol", { class: "transcript" }, ...segments.map((segment, at) => line(segment, cited.has(segment)))),
  ].filter(Boolean);
}

function list(title, symbol, texts) {
  if (!texts.length) return [];
  const items = texts.map((text) => el("li", {}, icon(symbol), el("span", {}, text)));
  return [el("h3", {}, title), el("ul", { class: "items" }, ...items)];
}

function line(segment, marked) {
  return el("li", { class: [segment.is_user && "own", marked && "cited"].filter(Boolean).join(" ") || null },
    el("span", { class: "speaker" }, speakerName(segment)),
    el("time", {}, offset(segment.start)),
    marked && el("span", { class: "unseen" }, "Cited passage:"),
    el("p", {}, segment.text));
}
