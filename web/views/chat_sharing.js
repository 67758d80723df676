// Sharing of the open chat: its link, a button that copies it, and one that ends it.

import { attempting, el, find } from "../dom.js";
import { t } from "../i18n.js";
import { copyable } from "./copyable.js";

/** Returns `follow(session)`, which names the chat that is open. */
export function startChatSharing({ api }) {
  const box = find("#chat-link");
  const attempt = attempting(find("#chat-link-problem"));
  let current = null;

  const share = () => attempt(async () => {
    const session = current;
    const { url } = await api.shareChat(session);
    if (session === current) show(session, url);
  });

  function show(session, url) {
    const stop = el("button", { type: "button", onclick: () => attempt(async () => {
      await api.unshareChat(session);
      close();
      find("#share-chat").focus();
    }) }, t("Stop sharing"));
    box.replaceChildren(
      el("p", {}, t("Anyone with this link can read this chat as it is now, without its sources. Later messages are not shown until you share it again.")),
      copyable(t("Copy the link"), url),
      el("div", { class: "choice" }, stop, el("button", { type: "button", onclick: close }, t("Close"))));
    box.hidden = false;
    box.focus();
  }

  function close() {
    box.hidden = true;
    box.replaceChildren();
  }

  find("#share-chat").addEventListener("click", share);
  return {
    follow: (session) => {
      if (session !== current) close();
      current = session;
    },
  };
}
