// The chat: history, a question, and its answer as it streams in.

import { el, find, say } from "../dom.js";
import { keepDraft } from "../drafts.js";
import { t } from "../i18n.js";
import { forget, isIncognito, isPrivate, isSealed, pending, remember } from "../pending.js";
import { follow } from "../run.js";
import { keepEnd, toEnd } from "../scrolling.js";
import { Answer } from "./answer.js";
import { question } from "./question.js";
import { startSuggestions } from "./suggestions.js";

const CHAT = "keepsake.chat";
const MAIN = "main";
const SEALED = t("What is stored of a sealed chat can be read only in your browsers that have its key; to answer, the server reads it for up to a day.");

/**
 * Returns `{open(session, message)}`; `onChange(session)` is called when a chat is opened and when an answer in it has ended,
 * `onNoted(chat)` when it is noted what follows the answer.
 */
export function startChat({ api, read, onChange, onNoted }) {
  const messages = find("#messages");
  const form = find("#ask");
  const box = find("#question");
  keepDraft(box, () => isPrivate(session));
  const problemLine = find(".problem", form);
  let session = MAIN;
  let loading; // the history that was requested last
  let running = null;

  const add = (node) => messages.append(node);
  const human = (message) => question(message, { edit: (node, text) => running || askEdited(node, text), show, load: loadFile });
  const answer = (text) => new Answer({ api, read, question: text, retry: (node) => running || askAgain(node, text), show });

  let models = null; // the choice of models, once the owner is about to ask
  let files = null; // those of the next question, once there are some
  let talk = null; // speaking with the model, once the owner did
  const suggestions = startSuggestions({ api, ask: (text) => running || ask(text), onNoted });

  // With a message, the versions that lead to it are shown, and the chat is loaded back to it.
  async function open(id, message) {
    leave();
    if (id !== session) talk?.leave();
    suggestions.hide();
    session = id;
    sessionStorage.setItem(CHAT, session);
    say(problemLine, "");
    messages.replaceChildren();
    await load(() => (message ? loadBackTo(id, message) : api.messages(id)));
    if (message) pointAt(nodeOf(message));
  }

  async function loadBackTo(id, message) {
    await api.showVersion(id, message);
    const newestFirst = await api.messages(id);
    for (let page = newestFirst; page.length && !newestFirst.some((one) => one.id === message); ) {
      page = await api.messages(id, newestFirst.at(-1).id);
      newestFirst.push(...page);
    }
    return newestFirst;
  }

  function pointAt(node) {
    if (!node) return;
    node.tabIndex = -1;
    node.focus({ preventScroll: true });
    node.scrollIntoView({ block: "center" });
  }

  // The run continues on the server; the next visit follows it again.
  function leave() {
    running?.aborter.abort();
    setRunning(null);
  }

  // A history that a later load has overtaken is not shown.
  async function load(messagesOf, { resume = true } = {}) {
    const requested = session;
    const loaded = (loading = messagesOf());
    try {
      const newestFirst = [await loaded].flat();
      if (loading !== loaded) return;
      showAll(newestFirst);
      if (isUnasked()) suggestions.show();
      else followUp();
      onChange(session);
      const asked = resume && pending(session, newestFirst);
      if (asked) await continueAsking(asked, newestFirst[0]);
    } catch (problem) {
      if (loading !== loaded) return;
      if (problem.status === 404 && requested !== MAIN) return open(MAIN);
      say(problemLine, problem);
    }
  }

  function continueAsking(asked, newest) {
    if (asked.of) cutFrom(nodeOf(asked.of));
    const isListed = asked.of ? !asked.isEdited : newest.metadata?.run === asked.run;
    if (!isListed) add(human(asked));
    return followAnswer(asked);
  }

  function showAll(newestFirst) {
    let asked = "";
    const nodes = newestFirst.toReversed().map((message) => {
      if (message.sender === "human") {
        asked = message.text;
        return human(message);
      }
      const view = answer(asked);
      view.finish(message);
      return view.node;
    });
    const read = newestFirst.findIndex(({ metadata }) => metadata?.summarised);
    if (read > 0) nodes.splice(-read, 0, el("p", { class: "hint boundary" }, t("The assistant reads a summary of what stands above. All of it stays here.")));
    if (isIncognito(session)) nodes.unshift(el("p", { class: "hint boundary" }, t("Nothing of this chat is stored. It ends after an hour of silence.")));
    if (isSealed(session)) nodes.unshift(el("p", { class: "hint boundary" }, SEALED));
    messages.replaceChildren(...nodes);
    messages.scrollTop = 0;
    toEnd(messages);
  }

  // The history is shown first: it would replace the question and its answer.
  async function submit() {
    const requested = session;
    await Promise.allSettled([loading]);
    const text = box.value.trim();
    if (!text || running || session !== requested) return;
    if (files?.isBusy()) return say(problemLine, t("A file is still being read. Send your question when it is there."));
    say(problemLine, "");
    form.reset();
    ask(text, files?.take());
  }

  function ask(text, attached = []) {
    const follows = [...messages.querySelectorAll("[data-id]")].at(-1)?.dataset.id;
    add(human({ text, files: attached }));
    toEnd(messages);
    return followAnswer({ key: crypto.randomUUID(), text, session, follows, files: attached, ...models?.chosen() });
  }

  function askAgain(node, text) {
    if (isSealed(session)) return ask(text);
    const of = node.dataset.id;
    cutFrom(node);
    return followAnswer({ key: crypto.randomUUID(), text, session, of });
  }

  function askEdited(node, text) {
    const of = node.dataset.id;
    cutFrom(node);
    add(human({ text }));
    return followAnswer({ key: crypto.randomUUID(), text, session, of, isEdited: true });
  }

  // What follows another version of a message is not shown beside it.
  function cutFrom(node) {
    while (node?.nextSibling) node.nextSibling.remove();
    node?.remove();
  }

  // Afterwards the buttons of the version that is shown have the focus.
  async function show(id) {
    if (running) return;
    try {
      await api.showVersion(session, id);
      await load(() => api.messages(session));
      nodeOf(id)?.scrollIntoView({ block: "nearest" });
      nodeOf(id)?.querySelector(".versions button:enabled")?.focus();
    } catch (problem) {
      say(problemLine, problem);
    }
  }

  async function followAnswer(asked) {
    const current = { question: asked, view: answer(asked.text), aborter: new AbortController() };
    setRunning(current);
    suggestions.hide();
    add(current.view.node);
    remember(asked);
    let problem = null;
    try {
      await showChunks(current);
    } catch (caught) {
      problem = caught;
    }
    if (running !== current) return;
    forget(asked);
    setRunning(null);
    if (problem) return recover(current, problem);
    if (asked.of) return load(() => api.messages(session), { resume: false });
    if (isSealed(session) && !(await storeSealed(asked))) return;
    onChange(session);
    followUp();
  }

  // Tells whether its chat is still open.
  async function storeSealed(asked) {
    try {
      await api.storeSealed(asked.session);
    } catch (problem) {
      say(problemLine, problem);
    }
    return session === asked.session;
  }

  const isUnasked = () => !find(".human", messages);

  // What a chat may begin with follows the library.
  function suggest() {
    if (isUnasked()) suggestions.show();
  }

  // What an answer suggests is shown until the next question.
  function followUp() {
    const last = messages.lastElementChild;
    if (!running && last?.matches(".ai") && last.dataset.id) suggestions.follow(last.dataset.id);
  }

  // A question that was not accepted goes back into the box; an answer that was never stored is asked anew.
  async function recover(current, problem) {
    const { of, isEdited, text } = current.question;
    if (of && !isEdited && problem.status === 404) {
      current.view.node.remove();
      return followAnswer({ key: crypto.randomUUID(), text, session });
    }
    if (!of || isEdited) restoreQuestion(current);
    if (of || problem.status === 409) await load(() => api.messages(session), { resume: false });
    say(problemLine, problem);
  }

  async function showChunks({ question: asked, view, aborter: { signal } }) {
    for await (const chunk of follow(api, asked, signal, (late) => view.take(late))) {
      if (signal.aborted) return;
      if (chunk.type === "gone" || (chunk.type === "start" && isShown(chunk.messageId))) {
        forget(asked);
        return load(() => api.messages(session), { resume: false });
      }
      if (chunk.type === "start") accept(asked, view);
      view.take(chunk);
    }
  }

  // From now on the server has the question, which can be edited by its id.
  function accept(asked, view) {
    const node = view.node.previousElementSibling;
    if (node && !node.dataset.id) node.dataset.id = `${asked.run}-q`;
    remember(asked);
  }

  const nodeOf = (id) => messages.querySelector(`[data-id="${CSS.escape(id)}"]`);
  const isShown = (id) => nodeOf(id) !== null;

  // Puts a question that the server did not accept back into the box.
  function restoreQuestion({ question: asked, view }) {
    view.node.previousElementSibling?.remove();
    view.node.remove();
    box.value ||= asked.text;
    if (asked.files?.length) withFiles((attached) => attached.restore(asked.files));
    say(problemLine, "");
  }

  async function withFiles(act) {
    const { startChatFiles } = await import("./chat_files.js");
    files ??= startChatFiles({ api, tell: (problem) => say(problemLine, problem) });
    act(files);
  }

  const handIn = (chosen) => {
    if (isSealed(session)) return say(problemLine, t("A sealed chat takes no files, because a file is stored as it is. Ask about it in another chat."));
    if (isIncognito(session)) return say(problemLine, t("An incognito chat takes no files, because a file is stored. Ask about it in another chat."));
    return withFiles((attached) => attached.add(chosen));
  };

  async function loadFile(file) {
    try {
      await (await import("./file_cards.js")).download(api, file);
    } catch (problem) {
      say(problemLine, problem);
    }
  }

  function recallQuestion(event) {
    const last = [...messages.querySelectorAll(".human > p")].at(-1);
    if (!last) return;
    event.preventDefault();
    box.value = last.textContent;
  }

  async function stop() {
    const { question: asked } = running;
    box.focus();
    find("#stop").disabled = true;
    if (!asked.run) return takeBack(running);
    try {
      await api.stop(asked.run);
    } catch (problem) {
      say(problemLine, problem);
      find("#stop").disabled = false;
    }
  }

  function takeBack(current) {
    const { of, isEdited } = current.question;
    if (!of || isEdited) restoreQuestion(current);
    forget(current.question);
    leave();
    if (of) load(() => api.messages(session), { resume: false });
  }

  function setRunning(next) {
    const hadFocus = form.contains(document.activeElement);
    running = next;
    find("#send").hidden = Boolean(next);
    find("#stop").hidden = !next;
    find("#stop").disabled = false;
    if (hadFocus) box.focus();
  }

  keepEnd(messages);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "ArrowUp" && !box.value) return recallQuestion(event);
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  const picker = find("[type=file]", form);
  find("#attach").addEventListener("click", () => picker.click());
  picker.addEventListener("change", () => {
    handIn([...picker.files]);
    picker.value = "";
    box.focus();
  });
  box.addEventListener("paste", (event) => {
    if (!event.clipboardData.files.length) return;
    event.preventDefault();
    handIn([...event.clipboardData.files]);
  });
  const chat = find("#chat");
  chat.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    form.classList.add("drop");
  });
  chat.addEventListener("dragleave", () => form.classList.remove("drop"));
  chat.addEventListener("drop", (event) => {
    form.classList.remove("drop");
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    handIn([...event.dataTransfer.files]);
  });
  chat.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && running && !find("#stop").disabled) stop();
  });
  box.addEventListener("focus", async () => {
    models = (await import("./model_choice.js")).startModelChoice({ api });
  }, { once: true });
  find("#begin-talk").addEventListener("click", async () => {
    const { startTalk } = await import("./talk.js");
    talk ??= startTalk({ api, onEnd: (id) => id === session && !running && load(() => api.messages(id), { resume: false }) });
    talk.begin(session);
  });
  find("#stop").addEventListener("click", stop);
  find("#clear").addEventListener("click", async () => {
    const { isSure } = await import("./asking.js");
    if (!(await isSure(t("Clear this chat? Your conversations stay."), t("Clear chat")))) return;
    leave();
    forget({ session });
    load(() => api.clear(session));
  });
  open(sessionStorage.getItem(CHAT) ?? MAIN);
  return { open, suggest };
}
