// The library: add a transcript, follow its processing, list conversations.

import { el, find, icon, moveTo, onSubmit, say } from "../dom.js";
import { SAMPLE } from "../sample.js";
import { conversationFrom } from "../transcript.js";
import { day } from "../words.js";

const FIRST_POLL_MS = 300;
const SLOWEST_POLL_MS = 5000;
const MAX_FILE_BYTES = 5_000_000;

/** Returns `{update(id, conversation)}`, which shows a changed conversation; null removes it. */
export function startLibrary({ api, read, name }) {
  const list = find("#conversations");
  const more = find("#more");
  const form = find("#new-conversation");
  const transcript = find("#transcript");
  const formProblem = find(".problem", form);
  const listProblem = find(".list-problem");
  let cursor;

  async function loadPage() {
    try {
      const page = await api.conversations(cursor);
      cursor = page.next_cursor ?? undefined;
      for (const conversation of page.conversations) addOnce(conversation);
      more.hidden = !cursor;
      say(listProblem, "");
    } catch (problem) {
      say(listProblem, problem.message);
    }
    find("#empty").hidden = list.children.length > 0 || !listProblem.hidden;
  }

  // A conversation added since the page loaded is already listed.
  function addOnce(conversation) {
    if (!shown(conversation.id)) list.append(place(conversation));
  }

  function place(conversation) {
    const item = el("li", { "data-id": conversation.id }, card(conversation, read));
    if (isUnfinished(conversation)) watch(api, conversation.id, (now) => {
      update(conversation.id, now);
      if (now) find("#processing-result").textContent = `Processed: ${now.structured.title || "a conversation"}`;
    });
    return item;
  }

  function update(id, conversation) {
    const item = shown(id);
    if (conversation) item?.replaceChildren(card(conversation, read));
    else item?.remove();
  }

  const shown = (id) => find(`[data-id="${CSS.escape(id)}"]`, list);

  async function add(text, startedAt = null) {
    say(formProblem, "");
    try {
      const conversation = conversationFrom(text, { name, startedAt });
      const { id, status } = await api.addConversation(conversation);
      list.prepend(place({ ...conversation, id, status }));
      find("#empty").hidden = true;
      form.reset();
    } catch (problem) {
      say(formProblem, problem.message);
    }
  }

  async function readFile(file) {
    if (!file) return;
    if (file.size > MAX_FILE_BYTES) return say(formProblem, "This file is too large. A transcript may have up to 5 MB.");
    transcript.value = await file.text();
    say(formProblem, "");
  }

  onSubmit(form, () => {
    const started = find("#started").value;
    return add(transcript.value, started ? new Date(started) : null);
  });
  find("#file").addEventListener("change", (event) => readFile(event.target.files[0]));
  find("#sample").addEventListener("click", () => add(SAMPLE));
  more.addEventListener("click", async () => {
    const last = list.lastElementChild;
    await loadPage();
    moveTo(last.nextElementSibling);
  });
  acceptDrops(form, readFile);
  loadPage();
  return { update };
}

function acceptDrops(form, readFile) {
  const over = (is) => (event) => {
    event.preventDefault();
    form.classList.toggle("drop", is);
  };
  form.addEventListener("dragover", over(true));
  form.addEventListener("dragleave", over(false));
  form.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return form.classList.remove("drop");
    over(false)(event);
    readFile(event.dataTransfer.files[0]);
  });
}

const isUnfinished = ({ status }) => status !== "completed" && status !== "failed";

// Polls after 0.3 s, then more and more slowly, also while the connection is down; null: it was deleted.
function watch(api, id, onProcessed, wait = FIRST_POLL_MS) {
  const again = () => watch(api, id, onProcessed, Math.min(wait * 1.5, SLOWEST_POLL_MS));
  setTimeout(async () => {
    try {
      const conversation = await api.conversation(id);
      if (isUnfinished(conversation)) again();
      else onProcessed(conversation);
    } catch (problem) {
      if (problem.status === 404) onProcessed(null);
      else again();
    }
  }, wait);
}

function card(conversation, read) {
  const { structured = {}, started_at } = conversation;
  const waiting = isUnfinished(conversation);
  return el("button", { type: "button", class: "card", "aria-busy": String(waiting), onclick: () => read(conversation.id) },
    el("span", { class: "emoji", "aria-hidden": "true" }, waiting ? "" : structured.emoji ?? ""),
    el("span", { class: "title" }, waiting ? "New conversation" : structured.title || "Untitled conversation"),
    el("span", { class: "meta" }, day(started_at), conversation.starred && icon("star"), state(conversation)),
    structured.overview && el("span", { class: "overview" }, structured.overview),
    tasks(structured.action_items ?? []));
}

function state({ status, discarded }) {
  if (status === "failed") return el("span", { class: "state failed" }, "Could not be processed");
  if (status !== "completed") return el("span", { class: "state busy" }, "Processing");
  return discarded && el("span", { class: "state" }, "Discarded");
}

function tasks(items) {
  if (!items.length) return null;
  const lines = items.slice(0, 3).map((item) => el("span", { class: "todo" }, icon("task"), el("span", {}, item.description)));
  const rest = items.length - lines.length;
  return el("span", { class: "todos" }, ...lines, rest > 0 && el("span", { class: "hint" }, `and ${rest} more tasks`));
}
