// A shared chat, for whoever has its link: `/read/#token`. No sign-in is needed, and nothing can be changed.

import { el, find, say } from "../dom.js";
import { at, json } from "../http.js";
import { t, translatePage } from "../i18n.js";
import { render } from "../markdown.js";
import { offerCode } from "../views/copying.js";
import { moment } from "../words.js";

const heading = find("h1");
const note = find("[role=status]");

async function show() {
  try {
    showChat(await json("GET", at`/shared/chats/${location.hash.slice(1)}`, {}));
  } catch (problem) {
    find("#messages").replaceChildren();
    heading.textContent = t("This chat cannot be read");
    say(note, problem);
  }
}

function showChat({ title, shared_at: sharedAt, messages, is_complete: isComplete }) {
  heading.textContent = title || t("A shared chat");
  document.title = `${heading.textContent} · Keepsake`;
  note.textContent = [t("As it was on {time}. Answers may be wrong.", { time: moment(sharedAt) }),
    !isComplete && t("Its earliest messages are left out.")].filter(Boolean).join(" ");
  find("#messages").replaceChildren(...messages.map((message) => (message.sender === "human" ? question(message) : answer(message))));
}

const question = ({ text }) =>
  el("article", { class: "message human", "aria-label": t("Question") }, el("p", { dir: "auto" }, text));

function answer({ text }) {
  const prose = el("div", { class: "prose", dir: "auto" }, render(text));
  offerCode(prose, attempt);
  return el("article", { class: "message ai", "aria-label": t("Answer") }, prose);
}

async function attempt(act) {
  try {
    await act();
  } catch (problem) {
    say(note, problem);
  }
}

translatePage();
window.addEventListener("hashchange", show);
show();
