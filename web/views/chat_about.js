// What is noted of the open chat, and what the assistant asks to read of its owner in it.

import { attempting, el, find } from "../dom.js";
import { t } from "../i18n.js";
import { originText } from "../words.js";

/** Returns `follow(chat)`, which shows the summary and tags of the chat that is open, and its requests. */
export function startChatAbout({ api }) {
  const about = find("#chat-about");
  const summary = el("p", { dir: "auto" });
  const origin = el("p", { class: "meta" });
  const tags = el("ul", { class: "tags", "aria-label": t("Tags") });
  const allowed = el("div", { class: "allowed" });
  const place = find("#details-requests");
  about.append(summary, origin, tags, allowed);
  let shown;

  function follow(chat) {
    const wasShown = shown?.id === chat.id ? JSON.stringify(shown.details_requests ?? []) : null;
    shown = chat;
    summary.textContent = chat.summary ?? "";
    origin.textContent = originText([...new Set([...(chat.title_kinds ?? []), ...(chat.summary_kinds ?? [])])]);
    tags.replaceChildren(...(chat.tags ?? []).map((tag) => el("li", { dir: "auto" }, tag)));
    const requests = chat.details_requests ?? [];
    allowed.replaceChildren(...requests.flatMap(taken));
    about.hidden = !summary.textContent && !tags.children.length && !allowed.children.length;
    if (wasShown !== JSON.stringify(requests)) place.replaceChildren(...requests.map(card).filter(Boolean));
  }

  const decide = async (request, responses) => {
    const session = shown.id;
    const { responses: decided } = await api.decideDetails(session, request.request_id, responses);
    if (session !== shown.id) return;
    const states = Object.fromEntries(Object.entries(decided).map(([key, { status }]) => [key, status]));
    const requests = shown.details_requests.map((one) => (one.request_id === request.request_id ? { ...one, states } : one));
    follow({ ...shown, details_requests: requests });
  };

  function card(request) {
    const keys = keysOf(request, "pending");
    if (!keys.length) return null;
    const problem = el("p", { class: "problem", role: "alert", hidden: true });
    const attempt = attempting(problem);
    const boxes = keys.map((key) => [key, el("input", { type: "checkbox", checked: true })]);
    const answer = (isAllowed) => attempt(async () => {
      await decide(request, Object.fromEntries(boxes.map(([key, box]) => [key, isAllowed && box.checked ? "accepted" : "rejected"])));
      find("#question").focus();
    });
    return el("section", { class: "confirmation", "aria-label": t("A request of the assistant") },
      el("fieldset", {}, el("legend", {}, t("May later answers in this chat read this about you?")),
        ...boxes.map(([key, box]) => el("label", { class: "row" }, box, NAMES[key]))),
      el("p", { class: "hint" }, t("Take your time: it waits. What you allow you can take back.")),
      problem,
      el("div", { class: "choice" },
        el("button", { type: "button", class: "primary", onclick: () => answer(true) }, t("Allow")),
        el("button", { type: "button", onclick: () => answer(false) }, t("Do not allow"))));
  }

  function taken(request) {
    const problem = el("p", { class: "problem", role: "alert", hidden: true });
    const attempt = attempting(problem);
    return keysOf(request, "accepted").map((key) => el("p", {}, t("Answers here read: {what}", { what: NAMES[key] }), " ",
      el("button", { type: "button", class: "quiet", onclick: () => attempt(() => decide(request, { [key]: "rejected" })) }, t("Take back")), problem));
  }

  return { follow };
}

const keysOf = ({ states }, state) => Object.keys(states).filter((key) => states[key] === state);

const NAMES = {
  "memories:manual": t("What you wrote down yourself"),
  "memories:system": t("Facts about you"),
  "memories:interesting": t("What others taught you"),
  "settings:own_names": t("The names by which recordings call you"),
  "settings:place": t("Where you were last"),
};
