// Crisis contacts: whom somebody in need can call, by country.

import { el, linkOut } from "../dom.js";
import { t, tag } from "../i18n.js";

const ANYWHERE = "";
const ALL_DAY = "24/7";
const NUMBER = /^([\d\s-]*\d)(?:\s\(.*\))?$/;

let loading = null;

/** Loads the table, once for a page. */
export function loadContacts({ api }) {
  loading ??= api.call("GET", "/v2/crisis-contacts").catch((problem) => {
    loading = null;
    throw problem;
  });
  return loading;
}

/** Loads the contacts and returns them as nodes; the owner chooses the country, nothing is guessed. */
export async function crisisContacts({ api }) {
  const contacts = await loadContacts({ api });
  const names = new Intl.DisplayNames(tag, { type: "region" });
  const countries = [...new Set(contacts.map(({ country }) => country).filter(Boolean))]
    .map((code) => ({ code, name: names.of(code) }))
    .toSorted((one, other) => one.name.localeCompare(other.name, tag));
  const list = el("ul", { class: "items" });
  const show = (country) => list.replaceChildren(
    ...[...new Set([country, ANYWHERE])].flatMap((code) => contacts.filter((one) => one.country === code)).map(row));
  const choice = el("select", { "aria-label": t("Country"), onchange: ({ target }) => show(target.value) },
    el("option", { value: ANYWHERE }, t("Choose your country")),
    ...countries.map(({ code, name }) => el("option", { value: code }, name)));
  show(ANYWHERE);
  return [
    el("h3", {}, t("Somebody to talk to")),
    el("p", { class: "hint" }, t("If you are in need, or worry about somebody: these people listen. In danger, call the emergency number of your country.")),
    choice, list,
  ];
}

function row({ name, contact, also, hours, source, checked }) {
  const date = new Date(checked).toLocaleDateString(tag, { dateStyle: "medium" });
  return el("li", {},
    el("b", { dir: "auto" }, name), reach(contact), also && reach(also),
    hours && (hours === ALL_DAY ? t("at any hour") : el("span", { dir: "auto" }, hours)),
    el("span", { class: "hint" }, linkOut(source, t("Page of {date}", { date }))));
}

/** Returns a link that calls a number or opens a page. */
export function reach(contact) {
  const [, number] = NUMBER.exec(contact) ?? [];
  if (number) return el("a", { href: `tel:${number.replaceAll(/\D/g, "")}`, dir: "auto" }, contact);
  const link = linkOut(`https://${contact}`, contact);
  link.dir = "auto";
  return link;
}
