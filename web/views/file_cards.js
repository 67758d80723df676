// Cards of files: a thumbnail or a sign, and the name; a press loads the file.

import { el, icon } from "../dom.js";
import { t } from "../i18n.js";

/** Returns a list of cards of files as messages name them; `load(file)` is called by a press. */
export function fileCards(files, load) {
  return el("ul", { class: "files", "aria-label": t("Files") }, ...files.map((file) => el("li", {},
    el("button", { type: "button", class: "quiet", title: t("Download {file}", { file: file.name }), onclick: () => load(file) }, ...faceOf(file)))));
}

/** What a card shows of a file. */
export const faceOf = ({ name, thumbnail }) => [
  thumbnail ? el("img", { src: pathOf(thumbnail), alt: "", loading: "lazy" }) : icon("file"),
  el("bdi", {}, name),
];

/** Saves a file under its name. Throws the Problem of a refusal. */
export async function download(api, { id, name }) {
  const address = URL.createObjectURL(await api.fileContent(id));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Opens a file that an answer cites: a PDF in a tab of its own, at its page; any other is saved. */
export async function openFile(api, { id, page }) {
  const file = await api.file(id);
  if (!file.document) return download(api, file);
  el("a", { href: pathOf(file.document) + (page ? `#page=${page}` : ""), target: "_blank", rel: "noopener" }).click();
}

// Only what our own server has is loaded, by whatever address it is reached.
function pathOf(address) {
  const { pathname, search } = new URL(address, location.href);
  return pathname + search;
}
