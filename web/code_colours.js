// Colours of code, loaded with the first block that names its language.

import hljs from "./vendor/highlight.min.js";
import DOMPurify from "./vendor/purify.es.mjs";

const ALLOWED = { ALLOWED_TAGS: ["span"], ALLOWED_ATTR: ["class"], RETURN_DOM_FRAGMENT: true };

/** Colours a code element by the language in its class; one of an unknown language stays as it is. */
export function colour(code) {
  const language = code.className.replace(/^language-/, "");
  if (!hljs.getLanguage(language)) return;
  const { value } = hljs.highlight(code.textContent, { language, ignoreIllegals: true });
  code.replaceChildren(DOMPurify.sanitize(value, ALLOWED));
}
