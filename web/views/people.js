// People who speak in the user's conversations.

import { el, find, iconButton } from "../dom.js";
import { t } from "../i18n.js";
import { day } from "../words.js";
import { edit } from "./edit.js";
import { listing } from "./listing.js";

export function startPeople({ api }) {
  const view = find("#people");
  const { reload, attempt } = listing(view, { page: api.people, row });

  function row(person) {
    const name = el("span", { class: "content", dir: "auto" }, person.name);
    const rename = (text) => attempt(async () => {
      await api.renamePerson(person.id, text);
      await reload();
    });
    return el("li", {}, name,
      el("div", { class: "tools" },
        iconButton("pen", t("Rename {name}", { name: person.name }), () => edit(name, { label: t("Name"), text: person.name }, rename)),
        iconButton("bin", t("Delete {name}", { name: person.name }), () => remove(person))),
      el("p", { class: "meta" }, t("known since {day}", { day: day(person.created_at) })));
  }

  function remove(person) {
    if (!confirm(t("Delete {name}? What they said stays, without the name.", { name: person.name }))) return;
    attempt(async () => {
      await api.deletePerson(person.id);
      await reload();
    });
  }

  return { reload };
}
