// Languages of the console. A text's key is the English text, so English needs no catalog.

const CHOICE = "keepsake.language";

/** The languages that can be chosen, each by its own name. */
export const LANGUAGES = { en: "English", de: "Deutsch", es: "Español", fr: "Français", ja: "日本語" };

/** Finds the first of `wanted` (BCP 47 tags) that there is a catalog for. */
export const chooseTag = (wanted) => wanted.find((tag) => languageOf(tag) in LANGUAGES) ?? "en";

const languageOf = (tag) => tag.split("-")[0].toLowerCase();

export const chosenLanguage = () => localStorage.getItem(CHOICE) ?? "";

// A chosen language keeps the browser's region, such as en-GB, because dates depend on it.
function preferredTags() {
  const chosen = chosenLanguage();
  return [navigator.languages.find((tag) => languageOf(tag) === chosen), chosen, ...navigator.languages].filter(Boolean);
}

/** The tag for dates and numbers, such as en-GB: the chosen language, or the browser's. */
export const tag = chooseTag(preferredTags());
const language = languageOf(tag);

/** Where the catalog of this page's language is; empty for English. */
export const catalogPath = language === "en" ? "" : `/languages/${language}.json`;

// Modules that import this one run after the catalog is there: their constants are translated too.
const catalog = catalogPath ? await loadCatalog() : null;

/** Stores the choice, empty for the browser's, and reloads: every text is drawn anew. */
export function chooseLanguage(choice) {
  if (choice) localStorage.setItem(CHOICE, choice);
  else localStorage.removeItem(CHOICE);
  location.reload();
}

// Without its catalog, the page stays English.
async function loadCatalog() {
  const response = await fetch(catalogPath).catch(() => null);
  return response?.ok ? response.json() : null;
}

const NUMBER = new Intl.NumberFormat(tag, { maximumFractionDigits: 1 });
const PLURALS = new Intl.PluralRules(catalog ? tag : "en");

export const formatNumber = (value) => NUMBER.format(value);

/** Translates an English text; `{name}` in it becomes `values.name`. */
export const t = (text, values = {}) => fill(translate(text), values).join("");

/** Translates a text that counts: `{n}` is the number. A catalog has the plural forms of its language under `other`. */
export function tn({ one, other }, n, values = {}) {
  const forms = catalog?.[other] ?? { one, other };
  return fill(forms[PLURALS.select(n)] ?? forms.other, { n: formatNumber(n), ...values }).join("");
}

/** Translates a text with elements among its values; returns the nodes and texts in their order. */
export const tNodes = (text, values) => fill(translate(text), values);

const translate = (text) => catalog?.[text] ?? text;

const fill = (text, values) =>
  text.split(/\{(\w+)\}/).map((part, at) => (at % 2 ? values[part] ?? `{${part}}` : part));

/** Translates what `data-t` marks in index.html. */
export function translatePage() {
  if (!catalog) return;
  document.documentElement.lang = language;
  for (const node of document.querySelectorAll("[data-t]")) {
    for (const name of marks(node)) {
      if (name === "text") translateContent(node);
      else node.setAttribute(name, t(node.getAttribute(name)));
    }
  }
}

/** The texts that `data-t` marks in a page that is not translated yet. */
export const findMarkedTexts = () => [...document.querySelectorAll("[data-t]")].flatMap((node) =>
  marks(node).map((name) => (name === "text" ? contentOf(node).text : node.getAttribute(name))));

// `data-t` lists attributes; `text`, or nothing, is the content of the element.
const marks = (node) => node.dataset.t.split(" ").map((name) => name || "text");

// Elements between two pieces of text are placeholders of one sentence, {1}, {2} and so on.
function contentOf(node) {
  const texts = [...node.childNodes].filter((child) => child.nodeType === Node.TEXT_NODE && child.data.trim());
  const [only] = texts;
  if (texts.length === 1) return { only, text: spaced(only.data) };
  let count = 0;
  const parts = [...node.childNodes].map((child) => (child.nodeType === Node.TEXT_NODE ? child.data : `{${++count}}`));
  return { text: spaced(parts.join("")) };
}

function translateContent(node) {
  const { only, text } = contentOf(node);
  if (only) only.data = only.data.replace(/\S[^]*\S|\S/, () => t(text));
  else node.replaceChildren(...tNodes(text, { ...[null, ...node.children] }));
}

const spaced = (text) => text.replace(/\s+/g, " ").trim();
