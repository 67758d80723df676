// The chat: history, a question, and its answer as it streams in.

import { Problem } from "../api.js";
import { el, find, say } from "../dom.js";
import { Answer } from "./answer.js";

const NEAR_THE_END_PX = 120;

export function startChat({ api, read }) {
  const messages = find("#messages");
  const form = find("#ask");
  const box = find("#question");
  const send = find("button", form);
  const problemLine = find(".problem", form);

  const add = (node) => followEnd(messages, () => messages.append(node));
  const answer = (question) => new Answer({ api, read, question });

  function show(message, question) {
    if (message.sender === "human") return add(human(message.text));
    const view = answer(question);
    add(view.node);
    view.finish(message);
  }

  async function showHistory(load) {
    try {
      const newestFirst = [await load()].flat();
      messages.replaceChildren();
      let asked = "";
      for (const message of newestFirst.reverse()) {
        show(message, asked);
        if (message.sender === "human") asked = message.text;
      }
      toEnd(messages);
    } catch (problem) {
      say(problemLine, problem.message);
    }
  }

  async function ask(text) {
    const view = answer(text);
    add(human(text));
    add(view.node);
    toEnd(messages);
    try {
      for await (const frame of api.ask(text)) followEnd(messages, () => view.take(frame));
      if (view.isOpen) throw new Problem("The connection was lost before the answer was complete.");
    } catch (problem) {
      view.breakOff();
      say(problemLine, problem.message);
    }
  }

  async function onAsk(event) {
    event.preventDefault();
    const text = box.value.trim();
    if (!text || send.disabled) return;
    say(problemLine, "");
    form.reset();
    send.disabled = true;
    await ask(text);
    send.disabled = false;
  }

  keepEnd(messages);
  form.addEventListener("submit", onAsk);
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  find("#clear").addEventListener("click", () => {
    if (confirm("Clear this chat? Your conversations stay.")) showHistory(api.clear);
  });
  showHistory(api.messages);
}

const human = (text) => el("article", { class: "message human", "aria-label": "You" }, el("p", {}, text));

// Reading further up is left in peace; at the end one stays at the end, whatever grows or narrows.
function followEnd(box, change) {
  const near = isNearEnd(box);
  change();
  if (near) toEnd(box);
}

function keepEnd(box) {
  let near = true;
  box.addEventListener("scroll", () => (near = isNearEnd(box)));
  new ResizeObserver(() => near && toEnd(box)).observe(box);
}

const isNearEnd = (box) => box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_THE_END_PX;

function toEnd(box) {
  box.scrollTop = box.scrollHeight;
}
