// Help in a crisis, in the open chat: whom to call, and a guided exercise, which can be begun and ended.

import { attempting, el, find } from "../dom.js";
import { at } from "../http.js";
import { t } from "../i18n.js";
import { crisisContacts } from "./crisis_contacts.js";

/** Fills the disclosure above the messages; returns `{show(chat)}`. */
export async function startChatSupport({ api }) {
  const box = find("#chat-support");
  const summary = find("summary", box);
  const resting = summary.textContent;
  const [exercises, contacts] = await Promise.all([api.call("GET", "/v2/exercises"), crisisContacts({ api })]);
  const step = el("p", { role: "status", lang: "en" });
  const list = el("ul", { class: "items" });
  const problem = el("p", { class: "problem", role: "alert", hidden: true });
  const attempt = attempting(problem);
  let shown;
  box.append(...contacts, el("h3", {}, t("Guided exercises")),
    el("p", { class: "hint" }, t("The assistant leads through an exercise step by step, in your language: begin one, and send a message.")),
    step, list, problem);

  const set = (id) => attempt(async () => {
    const session = shown.id;
    const chat = await api.call("PUT", at`/v2/chat-sessions/${session}/exercise`, { body: { exercise_id: id } });
    if (session !== shown.id) return;
    show(chat);
    find(id ? "[aria-pressed=true]" : "button", list).focus();
  });

  function show(chat) {
    shown = chat;
    const active = exercises.find(({ id }) => id === chat.exercise?.id);
    const at = chat.exercise?.step;
    summary.textContent = active ? t("{title}: step {n} of {count}", { title: active.title, n: at, count: active.steps.length }) : resting;
    step.textContent = active ? active.steps[at - 1] : "";
    list.replaceChildren(...exercises.map((exercise) => row(exercise, exercise === active)));
  }

  function row({ id, title, purpose }, isActive) {
    return el("li", {},
      el("span", { lang: "en" }, el("b", {}, title), ` – ${purpose} `),
      el("button", { type: "button", "aria-pressed": String(isActive), "aria-label": isActive ? t("End: {title}", { title }) : t("Begin: {title}", { title }), onclick: () => set(isActive ? null : id) },
        isActive ? t("End") : t("Begin")));
  }
  return { show };
}
