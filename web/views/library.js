// The library: lists conversations and follows their processing.

import { el, find, icon, moveTo, say } from "../dom.js";
import { t, tn } from "../i18n.js";
import { day, waitingText } from "../words.js";
import { startChoosing } from "./choosing.js";
import { DISCARDED, startFolderChoice } from "./folder_choice.js";
import { startImports } from "./imports.js";
import { startMeanings } from "./meanings.js";
import { startMerges } from "./merges.js";
import { taskLine } from "./task_line.js";

const FIRST_POLL_MS = 300;
const SLOWEST_POLL_MS = 5000;
const SAMPLE_IDS = "sample-";
const MAX_SHOWN = 20; // of one import; “Show more” has the others

/**
 * Returns `{update(id, conversation), refresh(id), showAdded(ids), showMerged(merge), show(folder)}`: a changed conversation, null where it is gone;
 * one that another view changed; new ones; a merge; and a folder, the discarded ones, or all. `open(folder)` goes to one. `onSettled()` follows a change, once nothing shown is being processed.
 */
export function startLibrary({ api, read, open, onSettled }) {
  const list = find("#conversations");
  const more = find("#more");
  const listProblem = find(".list-problem");
  let cursor;
  let folder;
  let loads = 0;

  // A page that a change of the folder has overtaken is not shown.
  async function loadPage() {
    const started = loads;
    try {
      const page = await api.conversations(cursor, folder === DISCARDED ? { discarded: true } : { folder_id: folder });
      if (started !== loads) return;
      cursor = page.next ?? undefined;
      for (const conversation of page.items) addOnce(conversation);
      more.hidden = !cursor;
      say(listProblem, "");
    } catch (problem) {
      say(listProblem, problem);
    }
    showEmptiness();
    find("#sample-loaded").hidden = !find(`[data-id^="${SAMPLE_IDS}"]`, list);
  }

  function showEmptiness() {
    const isEmpty = !list.children.length && listProblem.hidden;
    find("#empty").hidden = !isEmpty || Boolean(folder);
    find("#folder-empty").hidden = !isEmpty || !folder || folder === DISCARDED;
    find("#none-discarded").hidden = !isEmpty || folder !== DISCARDED;
    find("#library-tools").hidden = isEmpty && !folder;
  }

  // A conversation added since the page loaded is already listed.
  function addOnce(conversation) {
    if (!shown(conversation.id)) list.append(place(conversation));
  }

  function place(conversation) {
    const item = el("li", { "data-id": conversation.id },
      choosing.box(conversation), card(conversation, read), conversation.discarded && keepButton(conversation));
    if (isUnfinished(conversation)) watch(api, conversation, (now) => {
      update(conversation.id, now);
      if (now && !isUnfinished(now)) find("#processing-result").textContent = t("Processed: {title}", { title: now.structured.title || t("a conversation") });
    });
    return item;
  }

  function update(id, conversation) {
    const item = shown(id);
    if (conversation && !(folder === DISCARDED && !conversation.discarded)) item?.replaceWith(place(conversation));
    else item?.remove();
    settle();
  }

  async function refresh(id) {
    if (shown(id)) update(id, await api.conversation(id));
  }

  async function showMerged(merge) {
    await reload();
    merges.add(merge);
    await showAdded([merge.merged_conversation_id]);
  }

  function settle() {
    showEmptiness();
    if (find(".card[aria-busy=true]", list)) return;
    meanings.show();
    onSettled();
  }

  const keepButton = ({ id }) => el("button", { type: "button", class: "keep quiet", onclick: async () => {
    try {
      update(id, await api.changeConversation(id, { discarded: false }));
    } catch (problem) {
      say(listProblem, problem);
    }
  } }, t("Keep this conversation"));

  const shown = (id) => find(`[data-id="${CSS.escape(id)}"]`, list);

  // What an import added stands first; some of it may be listed already.
  async function showAdded(ids) {
    for (const id of ids.slice(0, MAX_SHOWN)) {
      const conversation = await api.conversation(id).catch(() => null);
      if (conversation && !shown(id)) list.prepend(place(conversation));
    }
    settle();
  }

  const meanings = startMeanings({ api });
  const folders = startFolderChoice({ api, open });
  const merges = startMerges({ api, onUndone: reload });
  const choosing = startChoosing({ api, folders, onMoved: reload, onMerged: showMerged });
  startImports({ api, onKept: showAdded });
  find("#sample").addEventListener("click", () => change(api.loadSampleLibrary));
  find("#remove-sample").addEventListener("click", () => change(api.removeSampleLibrary));

  // Loading and removing it changes many conversations at once.
  async function change(request) {
    try {
      await request();
      await reload();
      settle();
    } catch (problem) {
      say(listProblem, problem);
    }
  }

  async function reload() {
    loads += 1;
    list.replaceChildren();
    choosing.reset();
    cursor = undefined;
    await loadPage();
  }

  async function show(wanted) {
    folders.choose(wanted);
    if (wanted === folder) return;
    folder = wanted;
    await reload();
  }

  more.addEventListener("click", async () => {
    const last = list.lastElementChild;
    await loadPage();
    moveTo(last.nextElementSibling);
  });
  loadPage();
  meanings.show();
  merges.show();
  return { update, refresh, showAdded, showMerged, show };
}

const isUnfinished = ({ status }) => status !== "completed" && status !== "failed";

// Polls after 0.3 s, then more and more slowly, also while the connection is down, until a change; null: it was deleted.
function watch(api, seen, onChange, wait = FIRST_POLL_MS) {
  const again = (now) => watch(api, now, onChange, Math.min(wait * 1.5, SLOWEST_POLL_MS));
  setTimeout(async () => {
    try {
      const now = await api.conversation(seen.id);
      if (!isUnfinished(now) || now.waiting_since !== seen.waiting_since) onChange(now);
      else again(now);
    } catch (problem) {
      if (problem.status === 404) onChange(null);
      else again(seen);
    }
  }, wait);
}

function card(conversation, read) {
  const { structured = {}, started_at } = conversation;
  const waiting = isUnfinished(conversation);
  return el("button", { type: "button", class: "card", "aria-busy": String(waiting), onclick: () => read(conversation.id) },
    el("span", { class: "emoji", "aria-hidden": "true" }, waiting ? "" : structured.emoji ?? ""),
    el("span", { class: "title", dir: "auto" }, waiting ? t("New conversation") : structured.title || t("Untitled conversation")),
    el("span", { class: "meta" }, day(started_at), conversation.starred && icon("star"), state(conversation)),
    structured.overview && el("span", { class: "overview", dir: "auto" }, structured.overview),
    tasks(structured.action_items ?? []));
}

function state({ status, discarded, waiting_since }) {
  if (waiting_since) return el("span", { class: "state" }, waitingText(waiting_since));
  if (status === "failed") return el("span", { class: "state failed" }, t("Could not be processed"));
  if (status !== "completed") return el("span", { class: "state busy" }, t("Processing"));
  return discarded && el("span", { class: "state" }, t("Discarded"));
}

function tasks(items) {
  if (!items.length) return null;
  const lines = items.slice(0, 3).map((item) => el("span", { class: "todo" }, ...taskLine(item)));
  const rest = items.length - lines.length;
  return el("span", { class: "todos" }, ...lines, rest > 0 && el("span", { class: "hint" }, tn({ one: "and {n} more task", other: "and {n} more tasks" }, rest)));
}
