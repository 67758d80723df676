// The reader: one conversation beside the chat, with its summary and transcript. Its title, star and speakers
// can be changed here.

import { citedSegments } from "../citations.js";
import { el, find, icon, iconButton } from "../dom.js";
import { moment, offset, speakerName } from "../words.js";
import { edit } from "./edit.js";

/**
 * Returns `read(id, {question, answer, segment})`; the passages that the answer cites, or that segment, are marked.
 * `onChange(id, conversation)` is called after a change, with null after a deletion.
 */
export function reader(api, onChange) {
  const panel = find("#reader");
  let opener = null;
  let requested = null;

  const close = () => {
    requested = null;
    panel.hidden = true;
    opener?.focus();
  };
  find("header", panel).append(iconButton("close", "Close", close));
  panel.addEventListener("keydown", (event) => event.key === "Escape" && close());

  async function read(id, { question = "", answer = "", segment = null } = {}) {
    if (!panel.contains(document.activeElement)) opener = document.activeElement;
    requested = id;
    show(panel, "Opening…");
    try {
      const [conversation, passages] = await Promise.all([api.conversation(id), passagesFor(api, id, question)]);
      const segments = conversation.transcript_segments;
      const cited = segment === null ? citedSegments(segments, passages, answer) : new Set([segments[segment]]);
      if (requested === id) show(panel, titleOf(conversation), tools(conversation), ...contents(conversation, cited, { name, unname }));
    } catch (problem) {
      if (requested === id) show(panel, "This conversation cannot be opened", el("p", { class: "problem" }, problem.message));
    }
    find(".cited", panel)?.scrollIntoView({ block: "center" });
  }

  async function attempt(act) {
    try {
      await act();
    } catch (problem) {
      find(".scroll", panel).prepend(el("p", { class: "problem", role: "alert" }, problem.message));
    }
  }

  function tools({ id, starred, structured }) {
    const title = structured?.title || "this conversation";
    const change = (changes) => attempt(async () => {
      onChange(id, await api.changeConversation(id, changes));
      await read(id);
    });
    return el("div", { class: "page" },
      iconButton("star", "Star this conversation", () => change({ starred: !starred }), { "aria-pressed": String(starred) }),
      iconButton("pen", "Rename this conversation", () => edit(find("h2", panel), { label: "Title", text: structured?.title ?? "" }, (text) => change({ title: text }))),
      iconButton("bin", "Delete this conversation", () => confirm(`Delete “${title}” and everything derived from it?`) && attempt(async () => {
        await api.deleteConversation(id);
        onChange(id, null);
        close();
      })));
  }

  // Reloads after a change, and keeps the scroll position and the focused line.
  async function reload(id) {
    const scroll = find(".scroll", panel);
    const place = scroll.scrollTop;
    const lines = () => [...panel.querySelectorAll(".transcript li")];
    const at = lines().findIndex((line) => line.contains(document.activeElement));
    await read(id);
    scroll.scrollTop = place;
    if (at >= 0) find("button", lines()[at])?.focus({ preventScroll: true });
  }

  function name(id, segment, button) {
    edit(button, { label: `Who is ${speakerName(segment)}?`, text: "" }, (text) => attempt(async () => {
      const { items } = await api.people();
      const person = items.find((known) => known.name === text) ?? (await api.addPerson(text));
      await api.nameSpeaker(id, segment.label, person.id);
      await reload(id);
    }));
  }

  const unname = (id, { label }) => attempt(async () => {
    await api.nameSpeaker(id, label);
    await reload(id);
  });

  return read;
}

function show(panel, title, ...nodes) {
  panel.hidden = false;
  find("h2", panel).textContent = title;
  const scroll = find(".scroll", panel);
  scroll.replaceChildren(...nodes);
  scroll.scrollTop = 0;
  find("h2", panel).focus({ preventScroll: true });
}

// Without marks the conversation still opens.
async function passagesFor(api, id, question) {
  if (!question) return [];
  const { hits } = await api.passages(question).catch(() => ({ hits: [] }));
  return hits.find((hit) => hit.conversation_id === id)?.passages ?? [];
}

function titleOf({ structured }) {
  return `${structured?.emoji ?? ""} ${structured?.title || "Untitled conversation"}`.trim();
}

function contents(conversation, cited, naming) {
  const { id, structured = {}, transcript_segments: segments = [] } = conversation;
  return [
    el("p", { class: "hint" }, moment(conversation.started_at)),
    structured.overview && el("p", {}, structured.overview),
    ...list("To do", "task", (structured.action_items ?? []).map((item) => item.description)),
    ...list("Coming up", "open", (structured.events ?? []).map((event) => `${event.title}, ${moment(event.start)}`)),
    el("h3", {}, "Transcript"),
    el("ol", { class: "transcript" }, ...segments.map((segment) => line(segment, cited.has(segment), speaker(id, segment, naming)))),
  ].filter(Boolean);
}

function list(title, symbol, texts) {
  if (!texts.length) return [];
  const items = texts.map((text) => el("li", {}, icon(symbol), el("span", {}, text)));
  return [el("h3", {}, title), el("ul", { class: "items" }, ...items)];
}

function line(segment, marked, who) {
  return el("li", { class: [segment.is_user && "own", marked && "cited"].filter(Boolean).join(" ") || null },
    el("span", { class: "speaker" }, ...who),
    el("time", {}, offset(segment.start)),
    marked && el("span", { class: "unseen" }, "Cited passage:"),
    el("p", {}, segment.text));
}

// A known person is renamed in the people view.
function speaker(id, segment, { name, unname }) {
  const known = speakerName(segment);
  if (segment.person_id) return [known, iconButton("undo", `This is not ${known}`, () => unname(id, segment))];
  if (segment.is_user || !segment.speaker) return [known];
  return [el("button", { type: "button", class: "name", title: "Name this speaker", onclick: ({ currentTarget }) => name(id, segment, currentTarget) },
    known)];
}
