// Markdown of an answer as safe elements: marked makes HTML, DOMPurify keeps only what is listed here.

import { Marked } from "./vendor/marked.esm.js";
import DOMPurify from "./vendor/purify.es.mjs";
import { el } from "./dom.js";
import { t } from "./i18n.js";

const ALLOWED = {
  ALLOWED_TAGS: ["p", "br", "hr", "strong", "em", "del", "code", "pre", "blockquote", "ul", "ol", "li", "a",
    "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"],
  ALLOWED_ATTR: ["href", "start", "class"],
  ADD_URI_SAFE_ATTR: ["start"], // else it would have to be an address
  ALLOWED_URI_REGEXP: /^https:\/\//i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

// Tags in a text are shown as text, and an image by its description.
const markdown = new Marked({
  renderer: {
    html: ({ text }) => escape(text),
    image: ({ text }) => escape(text),
  },
});

// Of classes, only the language of a block of code is kept; colouring brings its own.
const CODE_CLASS = { CODE: /^language-[\w+#-]{1,30}$/, SPAN: /^hljs-[\w -]{1,60}$/ };

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.hasAttribute?.("class") && !CODE_CLASS[node.nodeName]?.test(node.className)) node.removeAttribute("class");
  if (!node.hasAttribute?.("href")) return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer");
});

/** Renders Markdown. Each `[n]` becomes what `cite(n)` returns, or stays text where that is null. */
export function render(text, cite = () => null) {
  const fragment = DOMPurify.sanitize(markdown.parse(text), ALLOWED);
  for (const node of proseIn(fragment)) linkMarkers(node, cite);
  return fragment;
}

function escape(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

function proseIn(fragment) {
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  return nodes.filter((node) => !node.parentElement?.closest("a, code"));
}

function linkMarkers(node, cite) {
  const parts = node.data.split(/\[(\d{1,3})\]/);
  if (parts.length === 1) return;
  node.replaceWith(...parts.map((part, at) => (at % 2 ? cite(Number(part)) ?? `[${part}]` : part)));
}

/** The small raised number that leads to a citation. A link, because a button may wrap to a line of its own. */
export function marker(n, title, onclick) {
  const follow = (event) => {
    event.preventDefault();
    onclick();
  };
  return el("sup", {}, el("a", { href: "#reader", class: "marker", "aria-label": t("Source {n}: {title}", { n, title }), onclick: follow },
    String(n)));
}
