// What tools returned for an answer: cards, tables, code and pictures. Nothing is loaded from other hosts.

import { el, linkOut, problemLine } from "../dom.js";
import { formatNumber, t, tn } from "../i18n.js";
import { moment } from "../words.js";

const MOST_ROWS = 50;
const MOST_COLUMNS = 10;
const PICTURE = /^data:(image\/(?:png|jpeg|webp|gif));base64,([A-Za-z0-9+/=\s]+)$/;
const MOMENT = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/;
const DRAWN = { website: page, place, event, code, image: picture, document: page, sheet: table };

/** The results of one answer; `load(id)` gets an embed and its children. */
export class Embeds {
  node = el("div", { class: "embeds" });
  #load;
  #shown = new Set();

  constructor(load) {
    this.#load = load;
  }

  /** Shows the reference of an embed that has just been streamed, opened. */
  take(ref) {
    this.#add(ref, true);
  }

  /** Shows the parts of a stored answer, folded: they are loaded when they are opened. */
  show(parts) {
    this.clear();
    for (const { type, data } of parts) if (type === "data-embed") this.#add(data, false);
  }

  clear() {
    this.#shown.clear();
    this.node.replaceChildren();
  }

  #add(ref, isOpen) {
    if (this.#shown.has(ref.embed_id)) return;
    this.#shown.add(ref.embed_id);
    const body = el("div", { class: "wide" }, el("p", { class: "meta", dir: "auto" }, ref.preview));
    const fill = once(async () => body.replaceChildren(...await this.#draw(ref)));
    this.node.append(el("details", { class: "returned", open: isOpen, ontoggle: ({ target }) => target.open && fill() },
      el("summary", {}, t("What {source} returned", { source: ref.source.name || ref.source.id })), body));
    if (isOpen) fill();
  }

  async #draw(ref) {
    try {
      return drawEmbeds(await this.#load(ref.embed_id));
    } catch (problem) {
      return [problemLine(problem)];
    }
  }
}

function once(act) {
  let done = null;
  return () => (done ??= act());
}

/** Draws an embed with its children: entries of one kind as cards or rows, one alone by its own kind. */
export function drawEmbeds([embed, ...children]) {
  if (!children.length) return [drawOne(embed)];
  const isTable = children.every(({ type }) => type === "record");
  if (isTable) return [table(children.map(({ content }) => content))];
  return [el("ul", { class: "cards" }, ...children.map((child) => el("li", {}, drawOne(child))))];
}

// A maker may write what is no object, or no list, whatever it is called.
function drawOne({ type, content }) {
  const isKind = (type === "sheet") === Array.isArray(content) && content !== null && typeof content === "object";
  return (isKind && DRAWN[type] ? DRAWN[type] : fields)(content);
}

function page({ type, url, title, name, text, description, snippet, ...others }) {
  const words = text ?? description ?? snippet;
  return el("div", { class: "embed" },
    heading(title ?? name, url),
    url && el("span", { class: "meta", dir: "ltr" }, host(url)),
    words && el("p", { dir: "auto" }, toText(words)),
    more(others));
}

// What else a card says; ids are for programs.
function more(others) {
  const shown = Object.entries(others).filter(([name, value]) => toText(value) && !/id$/i.test(name));
  return shown.length > 0 && fields(Object.fromEntries(shown));
}

function heading(title, url = "") {
  return el("strong", { dir: "auto" }, linkOut(toText(url), toText(title) || toText(url)));
}

function host(url) {
  try {
    return new URL(url).host;
  } catch {
    return "";
  }
}

function place({ type, name, title, address, latitude, longitude, ...others }) {
  const map = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}`;
  return el("div", { class: "embed" },
    heading(name ?? title ?? address),
    address && el("span", { class: "meta", dir: "auto" }, toText(address)),
    isPoint(latitude, longitude) && linkOut(map, t("Show on a map")),
    more(others));
}

const isPoint = (...degrees) => degrees.every(Number.isFinite);

function event({ type, title, name, start, end, location, url, ...others }) {
  return el("div", { class: "embed" },
    heading(title ?? name, url),
    el("span", { class: "meta" }, [start, end].filter(Boolean).map(time).join(" – ")),
    location && el("span", { class: "meta", dir: "auto" }, toText(location)),
    more(others));
}

// A day without a time is no moment in any zone.
function time(value) {
  const text = toText(value);
  return MOMENT.test(text) && Date.parse(text) ? moment(text) : text;
}

function code({ code: source }) {
  return el("pre", { tabindex: "0", "aria-label": t("Code") }, el("code", { translate: "no" }, toText(source)));
}

// The page's policy lets no picture in but our own, so one that came as text is drawn by us.
function picture({ image, url, title, name }) {
  const found = PICTURE.exec(toText(image));
  const label = toText(title ?? name) || t("Picture");
  if (!found) return page({ url: url ?? image, title: label });
  const canvas = el("canvas", { class: "picture", role: "img", "aria-label": label });
  paint(canvas, found[1], found[2]).catch(() => canvas.replaceWith(el("p", { class: "meta" }, t("This picture cannot be shown."))));
  return canvas;
}

async function paint(canvas, type, text) {
  const bytes = Uint8Array.from(atob(text.replace(/\s/g, "")), (sign) => sign.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type }));
  [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
  canvas.getContext("2d").drawImage(bitmap, 0, 0);
}

function table(rows) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row ?? {})))].slice(0, MOST_COLUMNS);
  const left = rows.length - MOST_ROWS;
  return el("div", {}, el("table", { "aria-label": t("Results as a table") },
    el("thead", {}, el("tr", {}, ...columns.map((name) => el("th", { scope: "col", dir: "auto", translate: "no" }, name)))),
    el("tbody", {}, ...rows.slice(0, MOST_ROWS).map((row) => el("tr", {}, ...columns.map((name) => el("td", { dir: "auto" }, toText(row?.[name]))))))),
  left > 0 && el("p", { class: "meta" }, tn({ one: "{n} more row", other: "{n} more rows" }, left)));
}

function fields(content) {
  if (content === null || typeof content !== "object") return el("p", { dir: "auto" }, toText(content));
  return el("dl", {}, ...Object.entries(content).flatMap(([name, value]) => [
    el("dt", { dir: "auto", translate: "no" }, name), el("dd", { dir: "auto" }, isTable(value) ? table(value) : toText(value))]));
}

const isTable = (value) => Array.isArray(value) && value.length > 0 && value.every((row) => row !== null && typeof row === "object" && !Array.isArray(row));

function toText(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return formatNumber(value);
  if (typeof value === "boolean") return value ? t("yes") : t("no");
  return typeof value === "object" ? JSON.stringify(value) : value;
}
