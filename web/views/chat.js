// The chat: history, a question, and its answer as it streams in.

import { el, find, say } from "../dom.js";
import { forget, pending, remember } from "../pending.js";
import { follow } from "../run.js";
import { followEnd, keepEnd, toEnd } from "../scrolling.js";
import { Answer } from "./answer.js";

const CHAT = "keepsake.chat";
const MAIN = "main";

/** Returns `{open(session)}`; `onChange(session)` is called when a chat is opened and when an answer in it has ended. */
export function startChat({ api, read, onChange }) {
  const messages = find("#messages");
  const form = find("#ask");
  const box = find("#question");
  const problemLine = find(".problem", form);
  let session = MAIN;
  let loading; // the history that was requested last
  let running = null;

  const add = (node) => followEnd(messages, () => messages.append(node));
  const answer = (question) => new Answer({ api, read, question, retry: () => running || ask(question) });

  async function open(id) {
    leave();
    session = id;
    sessionStorage.setItem(CHAT, session);
    say(problemLine, "");
    messages.replaceChildren();
    await load(() => api.messages(id));
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
      onChange(session);
      const question = resume && pending(session, newestFirst);
      if (!question) return;
      if (newestFirst[0].id !== `${question.run}-q`) add(human(question.text));
      await followAnswer(question);
    } catch (problem) {
      if (loading !== loaded) return;
      if (problem.status === 404 && requested !== MAIN) return open(MAIN);
      say(problemLine, problem.message);
    }
  }

  function showAll(newestFirst) {
    let question = "";
    const nodes = newestFirst.toReversed().map((message) => {
      if (message.sender === "human") return human((question = message.text));
      const view = answer(question);
      view.finish(message);
      return view.node;
    });
    messages.replaceChildren(...nodes);
    toEnd(messages);
  }

  // The history is shown first: it would replace the question and its answer.
  async function submit() {
    const requested = session;
    await Promise.allSettled([loading]);
    const text = box.value.trim();
    if (!text || running || session !== requested) return;
    say(problemLine, "");
    form.reset();
    ask(text);
  }

  function ask(text) {
    add(human(text));
    toEnd(messages);
    return followAnswer({ key: crypto.randomUUID(), text, session });
  }

  async function followAnswer(question) {
    const current = { question, view: answer(question.text), aborter: new AbortController() };
    setRunning(current);
    add(current.view.node);
    remember(question);
    try {
      await show(current);
    } catch (problem) {
      if (running === current) restoreQuestion(current, problem.message);
    }
    if (running !== current) return;
    forget(question);
    setRunning(null);
    onChange(session);
  }

  async function show({ question, view, aborter: { signal } }) {
    for await (const chunk of follow(api, question, signal)) {
      if (signal.aborted) return;
      if (chunk.type === "gone" || (chunk.type === "start" && isShown(chunk.messageId))) {
        forget(question);
        return load(() => api.messages(session), { resume: false });
      }
      if (chunk.type === "start") remember(question);
      followEnd(messages, () => view.take(chunk));
    }
  }

  const isShown = (id) => messages.querySelector(`[data-id="${CSS.escape(id)}"]`) !== null;

  // Puts a question that the server did not accept back into the box.
  function restoreQuestion({ question, view }, problem = "") {
    view.node.previousElementSibling?.remove();
    view.node.remove();
    box.value ||= question.text;
    say(problemLine, problem);
  }

  async function stop() {
    const { question } = running;
    box.focus();
    find("#stop").disabled = true;
    if (!question.run) {
      restoreQuestion(running);
      forget(question);
      return leave();
    }
    try {
      await api.stop(question.run);
    } catch (problem) {
      say(problemLine, problem.message);
      find("#stop").disabled = false;
    }
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
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  find("#stop").addEventListener("click", stop);
  find("#clear").addEventListener("click", () => {
    if (!confirm("Clear this chat? Your conversations stay.")) return;
    leave();
    forget({ session });
    load(() => api.clear(session));
  });
  open(sessionStorage.getItem(CHAT) ?? MAIN);
  return { open };
}

const human = (text) => el("article", { class: "message human", "aria-label": "You" }, el("p", {}, text));
