// Crisis contacts: whom somebody in need can call, by country.

import { el, linkOut } from "../dom.js";
import { t, tag } from "../i18n.js";

const ANYWHERE = "";
const ALL_DAY = "24/7";
const NUMBER = /^[\d\s-]+$/;

/** Loads the contacts and returns them as nodes; the owner chooses the country, nothing is guessed. */
export async function crisisContacts({ api }) {
  const contacts = await api.call("GET", "/v2/crisis-contacts");
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

function reach(contact) {
  if (NUMBER.test(contact)) return el("a", { href: `tel:${contact.replaceAll(/\D/g, "")}`, dir: "auto" }, contact);
  const link = linkOut(`https://${contact}`, contact);
  link.dir = "auto";
  return link;
}
