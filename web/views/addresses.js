// Addresses that a model wrote without having them from the owner: shown whole, opened after a question.
// The server writes them as hxxps://host(.)example, which no client makes a link.

import { el, linkOut, openDialog } from "../dom.js";
import { t } from "../i18n.js";

const DEFANGED = /(?<!\p{L})(hxxps?:\/\/[^\s<>[\]]+)/iu;
const TRAILING = /[.,;:!?'")>}*_~|`]+$/;
const NOTE = t("Keepsake has this address from the model, not from your library.");

/** Replaces each such address in `fragment` by a button that asks before it opens it. */
export function offerAddresses(fragment) {
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const text of texts.filter((node) => !node.parentElement?.closest("a, code"))) offer(text);
  return fragment;
}

function offer(node) {
  const parts = node.data.split(DEFANGED);
  if (parts.length > 1) node.replaceWith(...parts.flatMap((part, at) => (at % 2 ? addressOf(part) : part)));
}

function addressOf(text) {
  const written = text.replace(TRAILING, "");
  const address = restore(written);
  if (!address) return [text];
  const button = el("button", { type: "button", class: "address", title: NOTE, onclick: () => confirmOpening(address) }, address);
  return [button, text.slice(written.length)];
}

function restore(text) {
  const [, end, rest] = /^hxxp(s?:\/\/[^/?#&]*)(.*)$/i.exec(text);
  const address = `http${end.toLowerCase().replaceAll("(.)", ".")}${rest}`;
  return URL.canParse(address) ? address : null;
}

// The dialog shows the address in ASCII, as the browser asks for it: letters of other scripts can look like Latin ones.
function confirmOpening(written) {
  const address = new URL(written).href;
  const close = () => dialog.close();
  const open = linkOut(address, t("Open"));
  open.addEventListener("click", close);
  const dialog = openDialog(t("Open this address?"),
    el("p", { class: "whole", dir: "ltr" }, address),
    el("p", {}, NOTE, " ", t("What it contains is sent to that site.")),
    el("p", { class: "row" }, el("button", { type: "button", autofocus: true, onclick: close }, t("Cancel")), open));
}
