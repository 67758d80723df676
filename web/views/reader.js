// The reader: one conversation beside the chat, with its summary and transcript. Its title, star, tasks and
// speakers can be changed here.

import { citedSegments } from "../citations.js";
import { el, find, icon, iconButton, problemLine } from "../dom.js";
import { t, tNodes } from "../i18n.js";
import { recordAddress, setTitle } from "../router.js";
import { moment, offset, speakerName, waitingText } from "../words.js";
import { mayMerge } from "./choosing.js";
import { copyable } from "./copyable.js";
import { edit } from "./edit.js";
import { soundOf } from "./sound.js";
import { taskBox } from "./task_line.js";
import { throwAway } from "./throwing_away.js";

const CHANGED = t("This conversation was changed after the answer was written.");
const GONE = t("This conversation was deleted or merged after the answer was written.");

/**
 * Returns `close()` and `read(id, {question, answer, segment, cited})`; the passages that the answer cites, or that segment, are marked.
 * `cited` is the card of an answer that leads here.
 * `onChange(id, conversation)` is called after a change, with null after a deletion, `onRestored(id)` when that was undone;
 * `onMerged(merge)` after a merge with another recording of the same talk, `onClose()` when a reader closes it.
 */
export function reader(api, { onChange, onRestored, onMerged, onClose }) {
  const panel = find("#reader");
  let opener = null;
  let requested = null;

  const hide = () => {
    requested = null;
    panel.hidden = true;
  };
  const close = () => {
    hide();
    onClose();
    opener?.focus();
  };
  find("header", panel).append(iconButton("close", t("Close"), close));
  panel.addEventListener("keydown", (event) => event.key === "Escape" && close());

  async function read(id, { question = "", answer = "", segment = null, cited: card = null } = {}) {
    if (!panel.contains(document.activeElement)) opener = document.activeElement;
    requested = id;
    recordAddress("conversations", id);
    show(panel, t("Opening…"));
    try {
      const [conversation, passages, doubles] = await Promise.all([api.conversation(id), passagesFor(api, id, question), api.doubles(id).catch(() => [])]);
      const segments = conversation.transcript_segments;
      const cited = segment === null ? citedSegments(segments, passages, answer) : new Set([segments[segment]]);
      if (requested === id) show(panel, titleOf(conversation), tools(conversation), ...(isChanged(card, conversation) ? [el("p", { class: "hint" }, CHANGED)] : []), soundOf(api, conversation, attempt), ...doubles.map((double) => offerMerge(conversation, double)), ...contents(conversation, cited, { name, unname, markSelf, retry, tick, keep }));
    } catch (problem) {
      if (requested === id) show(panel, t("This conversation cannot be opened"), card && problem.status === 404 ? el("p", {}, GONE) : problemLine(problem));
    }
    find(".cited", panel)?.scrollIntoView({ block: "center" });
  }

  // Several devices recorded one talk.
  const offerMerge = ({ id, structured, visibility }, double) => el("p", { class: "hint" }, t("“{title}” holds the same talk.", { title: double.title || t("Untitled conversation") }), " ",
    el("button", { type: "button", onclick: () => attempt(async () => {
      if (!(await mayMerge([{ visibility, title: structured?.title }, double]))) return;
      const merge = await api.mergeConversations([id, double.id]);
      close();
      await onMerged(merge);
    }) }, t("Merge")));

  async function attempt(act) {
    try {
      await act();
    } catch (problem) {
      find(".scroll", panel).prepend(problemLine(problem));
    }
  }

  function tools({ id, starred, structured, visibility }) {
    const title = structured?.title || t("this conversation");
    const change = (changes) => attempt(async () => {
      onChange(id, await api.changeConversation(id, changes));
      await read(id);
    });
    return el("div", { class: "page" },
      iconButton("star", t("Star this conversation"), () => change({ starred: !starred }), { "aria-pressed": String(starred) }),
      iconButton("pen", t("Rename this conversation"), () => edit(find("h2", panel), { label: t("Title"), text: structured?.title ?? "" }, (text) => change({ title: text }))),
      iconButton("share", t("Share this conversation by a link"), () => attempt(() => share(id)), { "aria-pressed": String(visibility === "shared") }),
      iconButton("bin", t("Delete this conversation"), () => attempt(() => throwAway(api, "conversations", { id, title }, () => {
        onChange(id, null);
        close();
      }, () => onRestored(id)))));
  }

  // Shows the link, the same one each time until sharing is stopped.
  async function share(id) {
    const { url } = await api.shareConversation(id);
    await read(id);
    const stop = el("button", { type: "button", onclick: () => attempt(async () => {
      await api.unshareConversation(id);
      await read(id);
    }) }, t("Stop sharing"));
    find(".scroll > .page", panel).after(el("div", { class: "page" },
      el("p", {}, t("Anyone with this link can read this conversation.")), copyable(t("Copy the link"), url), stop));
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
    edit(button, { label: t("Who is {name}?", { name: speakerName(segment) }), text: segment.speaker_name ?? "" }, (text) => attempt(async () => {
      const { items } = await api.people();
      const person = items.find((known) => known.name === text) ?? (await api.addPerson(text));
      await api.nameSpeaker(id, segment.speaker, person.id);
      await reload(id);
    }));
  }

  const unname = (id, { speaker: label }) => attempt(async () => {
    await api.nameSpeaker(id, label);
    await reload(id);
  });

  // A name that the transcript gives may be kept for all conversations.
  const markSelf = (id, segment, isUser) => attempt(async () => {
    const name = segment.speaker_name;
    const reach = isUser && name ? await askReach(name) : "here";
    if (!reach) return;
    await api.markSelf(id, segment.speaker, isUser, reach === "everywhere");
    await reload(id);
  });

  // A task is known by its place: in its conversation it has no id.
  const tick = (id, place, box) => attempt(async () => {
    try {
      await api.tickTask(id, place, box.checked);
    } catch (problem) {
      box.checked = !box.checked;
      throw problem;
    }
    onChange(id, await api.conversation(id));
  });

  const keep = (id) => attempt(async () => {
    onChange(id, await api.changeConversation(id, { discarded: false }));
    await read(id);
  });

  const retry = (id, button) => attempt(async () => {
    button.disabled = true;
    button.textContent = t("Trying again…");
    try {
      onChange(id, await api.reprocess(id));
    } finally {
      await read(id);
    }
  });

  return { read, close: hide };
}

async function askReach(name) {
  const { ask } = await import("./asking.js");
  return ask(t("In which conversations is “{name}” you?", { name }), [["here", t("Only in this one")], ["everywhere", t("In all of them")]]);
}

function show(panel, title, ...nodes) {
  panel.hidden = false;
  find("h2", panel).textContent = title;
  setTitle(title);
  const scroll = find(".scroll", panel);
  scroll.replaceChildren(...nodes);
  scroll.scrollTop = 0;
  find("h2", panel).focus({ preventScroll: true });
}

// Without marks the conversation still opens.
async function passagesFor(api, id, question) {
  if (!question) return [];
  const { items } = await api.passages(question).catch(() => ({ items: [] }));
  return items.find((hit) => hit.id === id)?.passages ?? [];
}

// Other names of who spoke, or another title, change nothing that an answer rests on.
function isChanged(card, { words_hash: hash }) {
  return Boolean(card?.words_hash) && card.words_hash !== hash;
}

function titleOf({ structured }) {
  return `${structured?.emoji ?? ""} ${structured?.title || t("Untitled conversation")}`.trim();
}

function contents(conversation, cited, changes) {
  const { id, structured = {}, transcript_segments: segments = [] } = conversation;
  const firsts = new Set(new Map(segments.toReversed().map((segment) => [segment.speaker, segment])).values());
  return [
    el("p", { class: "hint" }, moment(conversation.started_at)),
    conversation.waiting_since && el("p", { class: "hint" }, waitingText(conversation.waiting_since)),
    conversation.failure && failed(conversation, changes),
    conversation.discarded && el("p", { class: "hint" }, t("Nothing in it seemed to matter, so it is not searched."), " ",
      el("button", { type: "button", onclick: () => changes.keep(id) }, t("Keep this conversation"))),
    structured.overview && el("p", { dir: "auto" }, structured.overview),
    ...list(t("To do"), (structured.action_items ?? []).map((task, place) => [taskBox(task, (box) => changes.tick(id, place, box))])),
    ...list(t("Coming up"), (structured.events ?? []).map((event) => [icon("open"), el("span", { dir: "auto" }, `${event.title}, ${moment(event.start)}`)])),
    el("h3", {}, t("Transcript")),
    el("ol", { class: "transcript" }, ...segments.map((segment) => line(segment, cited.has(segment), speaker(id, segment, firsts.has(segment), changes)))),
  ].filter(Boolean);
}

// Why there is no summary, and a button where trying again may help.
function failed({ id, failure }, { retry }) {
  return el("div", { class: "page" },
    el("p", { class: "problem" }, ...tNodes("There is no summary: {reason}", { reason: el("span", { lang: "en" }, failure.detail) })),
    failure.can_retry && el("button", { type: "button", onclick: ({ currentTarget }) => retry(id, currentTarget) }, t("Try again")));
}

function list(title, lines) {
  if (!lines.length) return [];
  return [el("h3", {}, title), el("ul", { class: "items" }, ...lines.map((nodes) => el("li", {}, ...nodes)))];
}

function line(segment, marked, who) {
  return el("li", { class: [segment.is_user && "own", marked && "cited"].filter(Boolean).join(" ") || null },
    el("span", { class: "speaker" }, ...who),
    el("time", { datetime: `${segment.start}s` }, offset(segment.start)),
    marked && el("span", { class: "unseen" }, t("Cited passage:")),
    el("p", { dir: "auto" }, segment.text));
}

// A known person is renamed in the people view.
function speaker(id, segment, isFirst, { name, unname, markSelf }) {
  const known = speakerName(segment);
  if (segment.person_id) return [el("bdi", {}, known), iconButton("undo", t("This is not {name}", { name: known }), () => unname(id, segment))];
  if (segment.is_user) return [el("bdi", {}, known), isFirst && iconButton("undo", t("This is not me"), () => markSelf(id, segment, false))].filter(Boolean);
  return [el("button", { type: "button", class: "name", dir: "auto", title: t("Name this speaker"), onclick: ({ currentTarget }) => name(id, segment, currentTarget) },
    known), isFirst && iconButton("people", t("{name}: this is me", { name: known }), () => markSelf(id, segment, true))].filter(Boolean);
}
