// Imports: files are shown as they were read, then kept; pasted text is kept at once.

import { el, find, onSubmit, say } from "../dom.js";
import { keepDraft } from "../drafts.js";
import { Problem } from "../http.js";
import { formatNumber, t, tn, tNodes } from "../i18n.js";
import { upload } from "../uploads.js";
import { moment } from "../words.js";

const MAX_FILES = 500;
const MAX_FORM_BYTES = 25_000_000; // more goes by uploads
const MAX_UPLOADS = 20;
const FIRST_POLL_MS = 200;
const SLOWEST_POLL_MS = 2000;
const MAX_LISTED = 5; // conversations of one file

/** Returns `{addText(text)}`. `onKept(ids)` is called with the conversations of a kept import. */
export function startImports({ api, onKept }) {
  const form = find("#new-conversation");
  const transcript = find("#transcript");
  keepDraft(transcript);
  const formProblem = find(".problem", form);
  const panel = new Panel(find("#import"));
  const result = find("#import-result");

  async function addText(text, startedAt = null) {
    say(formProblem, "");
    try {
      const file = new File([text], t("Pasted text.txt"));
      const imported = await send([file], startedAt ?? new Date(), false);
      const refused = imported.files.find(({ status }) => status === "refused");
      if (refused) return sayNotAdded(refused.reason);
      const texts = questionsOf(imported).map(({ number }) => number);
      if (texts.length) await api.keepImport(imported.id, texts);
      form.reset();
      const kept = await follow(imported.id, () => {});
      await onKept(idsOf(kept));
      if (kept.asks_for_me) showMe(kept);
    } catch (problem) {
      say(formProblem, problem);
    }
  }

  function sayNotAdded(reason) {
    formProblem.replaceChildren(...tNodes("This was not added: {reason}", { reason: serverText(ended(reason)) }));
    formProblem.hidden = false;
  }

  async function addFiles(files) {
    if (!files.length) return;
    say(formProblem, "");
    result.textContent = "";
    try {
      if (files.length > MAX_FILES) throw new Problem(t("At most {count} files at once. Put more of them into a zip.", { count: formatNumber(MAX_FILES) }));
      panel.open(files.length === 1 ? t("Reading {file}", { file: files[0].name }) : tn({ one: "Reading {n} file", other: "Reading {n} files" }, files.length));
      showPreview(await readToEnd(await read(files)));
    } catch (problem) {
      panel.close();
      say(formProblem, problem);
    } finally {
      find("#file").value = "";
    }
  }

  async function read(files) {
    const size = files.reduce((sum, file) => sum + file.size, 0);
    if (size <= MAX_FORM_BYTES) return send(files, null, true);
    if (files.length > MAX_UPLOADS) throw new Problem(t("At most {count} large files at once.", { count: formatNumber(MAX_UPLOADS) }));
    const ids = [];
    let done = 0;
    for (const file of files) {
      ids.push(await upload(api, file, (sent) => panel.progress(done + sent, size)));
      done += file.size;
    }
    return api.importUploads(ids, files.map(({ lastModified }) => new Date(lastModified).toISOString()));
  }

  function send(files, startedAt, preview) {
    const data = new FormData();
    const modified = files.map((file) => (startedAt ?? new Date(file.lastModified)).toISOString());
    data.append("options", JSON.stringify({ modified }));
    for (const file of files) data.append("files", file, file.name);
    return api.importForm(data, preview);
  }

  const readToEnd = (imported) => (imported.status === "reading" ? follow(imported.id, () => {}) : imported);

  // Asks more and more slowly; also ends when the rest waits for a quota.
  async function follow(id, onProgress, wait = FIRST_POLL_MS) {
    const imported = await api.imported(id);
    onProgress(imported);
    const { status, resumes_at } = imported;
    if (status !== "reading" && (resumes_at || status !== "keeping")) return imported;
    await new Promise((resolve) => setTimeout(resolve, wait));
    return follow(id, onProgress, Math.min(wait * 1.5, SLOWEST_POLL_MS));
  }

  function showPreview(imported) {
    const count = imported.conversation_count;
    const keepable = count > 0 || imported.files.some(({ status }) => status !== "refused");
    panel.open(keepable ? tn({ one: "{n} conversation to keep", other: "{n} conversations to keep" }, count) : t("Nothing of this can be kept"));
    panel.list(imported.files);
    if (imported.asks_for_me) panel.ask(imported.speakers);
    const discard = () => attempt(async () => {
      await api.discardImport(imported.id);
      panel.close();
    });
    if (!keepable) return panel.buttons([t("Close"), discard]);
    return panel.buttons([t("Keep"), () => attempt(() => keep(imported)), "primary"], [t("Discard"), discard]);
  }

  async function keep(imported) {
    const { texts, me } = panel.choices();
    await api.keepImport(imported.id, texts, me);
    panel.open(t("Keeping"));
    const kept = await follow(imported.id, (now) => panel.progress(now.kept_count, now.conversation_count));
    panel.close();
    result.replaceChildren(...describe(kept));
    await onKept(idsOf(kept));
  }

  // It goes on by itself, and is kept, when this page is closed.
  async function fetchWearable(form) {
    const { wearable, key } = Object.fromEntries(new FormData(form));
    const label = find(`option[value=${wearable}]`, form).textContent;
    const problem = find(".problem", form);
    say(problem, "");
    result.textContent = "";
    try {
      const { id } = await api.importWearable(wearable, key);
      form.reset();
      panel.open(t("Fetching from {wearable}", { wearable: label }));
      const kept = await follow(id, (now) => {
        result.textContent = tn({ one: "{n} conversation so far.", other: "{n} conversations so far." }, now.conversation_count);
        if (now.status === "reading" && now.waits_for) result.append(" ", serverText(ended(now.waits_for)));
      });
      panel.close();
      result.replaceChildren(...describe(kept));
      await onKept(idsOf(kept));
      const refused = kept.files.filter(({ status }) => status === "refused");
      if (refused.length) {
        panel.open(t("Not everything came"));
        panel.list(refused);
        panel.buttons([t("Close"), () => panel.close()]);
      } else if (kept.asks_for_me) showMe(kept);
    } catch (error) {
      panel.close();
      say(problem, error);
    }
  }

  // After pasted text: it is kept, and only who the owner is remains open.
  function showMe(imported) {
    panel.open(t("One question"));
    panel.ask(imported.speakers);
    panel.buttons([t("Save"), () => attempt(async () => {
      const { me } = panel.choices();
      if (me) await api.keepImport(imported.id, [], me);
      panel.close();
    }), "primary"]);
  }

  async function attempt(act) {
    try {
      await panel.whileBusy(act);
    } catch (problem) {
      panel.say(problem);
    }
  }

  onSubmit(form, () => {
    const started = find("#started").value;
    return addText(transcript.value, started ? new Date(started) : null);
  });
  find("#file").addEventListener("change", (event) => addFiles([...event.target.files]));
  const wearable = find("#wearable form");
  onSubmit(wearable, () => fetchWearable(wearable));
  acceptDrops(form, addFiles);
  return { addText };
}

/** The panel below the form: what was read, questions, progress. */
class Panel {
  #node;

  constructor(node) {
    this.#node = node;
  }

  open(title) {
    this.close();
    this.#node.hidden = false;
    find("h3", this.#node).textContent = title;
    find("h3", this.#node).focus();
  }

  close() {
    this.#node.hidden = true;
    find("progress", this.#node).hidden = true;
    find(".import-me", this.#node).hidden = true;
    find(".import-files", this.#node).replaceChildren();
    find(".row", this.#node).replaceChildren();
    this.say("");
  }

  say(error) {
    say(find(".problem", this.#node), error);
  }

  progress(done, total) {
    const bar = find("progress", this.#node);
    bar.hidden = false;
    bar.max = Math.max(total, 1);
    bar.value = done;
    bar.setAttribute("aria-label", t("{done} of {total}", { done: formatNumber(done), total: formatNumber(total) }));
  }

  list(files) {
    find(".import-files", this.#node).replaceChildren(...[...files.filter(isOpen), ...files.filter((file) => !isOpen(file))].map(fileRow));
  }

  ask(speakers) {
    const field = find(".import-me", this.#node);
    const choices = [...speakers.map(({ name }) => [name, name]), ["", t("None of them")]];
    field.replaceChildren(el("legend", {}, t("Which of them are you?")), ...choices.map(([value, text]) =>
      el("label", {}, el("input", { type: "radio", name: "import-me", value, checked: value === "" }), el("span", { dir: "auto" }, text))));
    field.hidden = false;
  }

  choices() {
    const texts = [...this.#node.querySelectorAll("input[type=checkbox]:checked")].map(({ value }) => Number(value));
    return { texts, me: find("input[type=radio]:checked", this.#node)?.value || undefined };
  }

  buttons(...rows) {
    find(".row", this.#node).replaceChildren(...rows.map(([text, onclick, kind]) =>
      el("button", { type: "button", class: kind, onclick }, text)));
  }

  async whileBusy(act) {
    this.say("");
    const buttons = [...this.#node.querySelectorAll("button")];
    for (const button of buttons) button.disabled = true;
    try {
      await act();
    } finally {
      for (const button of buttons) button.disabled = false;
    }
  }
}

function fileRow(file) {
  const isQuestion = file.status === "question";
  const refused = file.status === "refused" && el("span", { class: "reason" },
    ...tNodes("Not imported: {reason}", { reason: serverText(ended(file.reason)) }));
  const question = isQuestion && el("label", { class: "check" },
    el("input", { type: "checkbox", value: String(file.number) }), t("Not recognised. Keep it as plain text?"));
  const kept = isQuestion ? [] : file.conversations.slice(0, MAX_LISTED).map(conversationLine);
  const more = file.conversation_count - kept.length;
  return el("li", {},
    el("span", { class: "name", dir: "auto" }, file.name), refused, question, ...kept,
    !isQuestion && more > 0 && el("span", { class: "meta" }, tn({ one: "and {n} more", other: "and {n} more" }, more)),
    ...records(file), ...leftOut(file));
}

function leftOut({ left_out }) {
  return left_out.map(({ title, reason, words }) => (words
    ? el("span", { class: "meta" }, ...tNodes("Not read: {title} ({words})", {
      title: el("bdi", {}, title), words: tn({ one: "{n} word", other: "{n} words" }, words) }))
    : el("span", { class: "reason" }, ...tNodes("Left out: {title}: {reason}", {
      title: title ? el("bdi", {}, title) : t("a conversation"), reason: serverText(ended(reason)) }))));
}

function conversationLine({ title, segments, speakers, started_at, is_known, is_dated }) {
  const turns = tn({ one: "{n} turn", other: "{n} turns" }, segments);
  const parts = [title && el("bdi", {}, title), moment(started_at), speakers.length > 0 && el("bdi", {}, speakers.join(", ")),
    turns, !is_dated && t("dated as its file"), is_known && t("in your library already")].filter(Boolean);
  return el("span", { class: "meta" }, ...parts.flatMap((part, at) => (at ? [" · ", part] : [part])));
}

function records({ memories, action_items, people, records: others, not_taken }) {
  const { folders, goal, daily_summary, chat_session, message, alternative, agent, settings, health } = others;
  const parts = [
    memories && tn({ one: "{n} memory", other: "{n} memories" }, memories),
    action_items && tn({ one: "{n} task", other: "{n} tasks" }, action_items),
    people && tn({ one: "{n} person", other: "{n} people" }, people),
    folders && tn({ one: "{n} folder", other: "{n} folders" }, folders),
    goal && tn({ one: "{n} goal", other: "{n} goals" }, goal),
    daily_summary && tn({ one: "{n} daily summary", other: "{n} daily summaries" }, daily_summary),
    chat_session && tn({ one: "{n} chat", other: "{n} chats" }, chat_session),
    message && tn({ one: "{n} message", other: "{n} messages" }, message),
    alternative && tn({ one: "{n} answer of another model", other: "{n} answers of other models" }, alternative),
    agent && tn({ one: "{n} agent", other: "{n} agents" }, agent),
    settings && tn({ one: "{n} setting", other: "{n} settings" }, settings),
    health && t("health figures"),
  ].filter(Boolean);
  const counted = parts.length > 0 && el("span", { class: "meta" }, parts.join(" · "));
  const left = not_taken.map(({ name, reason }) => el("span", { class: "reason" },
    ...tNodes("Not brought back: {name}: {reason}", { name: el("bdi", {}, name), reason: serverText(ended(reason)) })));
  return [counted, ...left].filter(Boolean);
}

function describe({ status, kept_count, waits_for, files }) {
  const kept = tn({ one: "{n} conversation in your library.", other: "{n} conversations in your library." }, kept_count);
  const lost = files.filter((file) => isOpen(file) && !file.is_kept_as_text).map(({ name }) => name);
  const left = files.flatMap(leftOut).flatMap((line) => [" ", line]);
  if (lost.length) left.unshift(" ", el("span", { class: "reason" }, t("Not kept: {names}.", { names: lost.join(", ") })));
  return status === "completed" ? [kept, ...left] : [kept, " ", t("The rest follows by itself."), " ", serverText(waits_for ?? ""), ...left];
}

const serverText = (text) => el("span", { lang: "en" }, text);

// A reason as the end of a sentence.
const ended = (reason) => (reason.endsWith(".") ? reason : `${reason}.`);

// What is refused or asks something comes first: nobody should have to look for it.
const isOpen = ({ status }) => status === "refused" || status === "question";

const questionsOf = ({ files }) => files.filter(({ status }) => status === "question");

const idsOf = ({ files }) => files.flatMap((file) =>
  (file.status === "kept" || file.is_kept_as_text ? file.conversations : []).map(({ id }) => id));

function acceptDrops(form, addFiles) {
  const over = (is) => (event) => {
    event.preventDefault();
    form.classList.toggle("drop", is);
  };
  form.addEventListener("dragover", over(true));
  form.addEventListener("dragleave", over(false));
  form.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return form.classList.remove("drop");
    over(false)(event);
    addFiles([...event.dataTransfer.files]);
  });
}
