// A program that asks to be let in: who it is, where the answer goes, and what it may then do.

import { attempting, el, find } from "../dom.js";
import { t, tNodes } from "../i18n.js";

const SETTLE_MS = 500; // a press so soon was meant for what stood here before, such as the second of two on another page

/** Returns `show(request)`, which takes a program's request to `user` as it stood in its address. */
export function startConnect({ api, user }) {
  const view = find("#connect");
  const content = find(".content", view);
  const attempt = attempting(find(".problem", view));
  let shown;
  let seenAt;
  const look = () => { seenAt = performance.now(); };
  window.addEventListener("focus", look);

  const show = (query = "") => {
    content.replaceChildren();
    const request = shown = Object.fromEntries(new URLSearchParams(query));
    return attempt(async () => {
      const asked = await api.previewAuthorization(request);
      if (request !== shown) return;
      content.replaceChildren(...describe(request, asked));
      look();
    });
  };

  const decide = (request, allows) => performance.now() - seenAt >= SETTLE_MS && attempt(async () => {
    location.assign((await api.decideAuthorization(request, allows)).return_url);
  });

  function describe(request, { name, host, is_local: isLocal, document_host: voucher, scope, refusal, return_url: back }) {
    const who = el("p", {}, ...tNodes("{name} wants to use the library of {user}.", {
      name: el("strong", { dir: "auto" }, name), user: el("bdi", {}, user),
    }));
    if (refusal) {
      return [who, el("p", { class: "notice", lang: "en" }, refusal),
        el("button", { type: "button", onclick: () => location.assign(back) }, t("Back to {host}", { host }))];
    }
    const writes = scope === "write";
    const button = (label, allows, props) =>
      el("button", { type: "button", onclick: () => decide(request, allows), ...props }, label);
    return [
      who,
      el("ul", {},
        el("li", {}, t("It can search and read your conversations, memories, tasks and people.")),
        writes && el("li", {}, t("It can add, change and delete memories and tasks."))),
      el("dl", { class: "facts" },
        el("dt", {}, t("The answer goes to")), el("dd", {}, el("strong", {}, host)),
        el("dt", {}, t("Who vouches for its name")), el("dd", {}, voucher ?? t("nobody: any program can take this name"))),
      el("p", { class: "hint" }, isLocal
        ? t("It runs on the computer that you opened this page on. Allow it only if you started this there yourself.")
        : t("Allow it only if you started this yourself, and if you know {host}.", { host })),
      el("p", { class: "choice" },
        button(writes ? t("Allow all of it") : t("Allow it"), scope, { class: "primary" }),
        writes && button(t("Allow reading only"), "read"),
        button(t("Do not allow it"), "nothing")),
    ];
  }

  return { show };
}
