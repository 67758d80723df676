// People who speak in the user's conversations: those whom the user named, and those whom transcripts name.

import { el, find, iconButton } from "../dom.js";
import { t, tn } from "../i18n.js";
import { day } from "../words.js";
import { edit } from "./edit.js";
import { listing } from "./listing.js";
import { removeLater } from "./throwing_away.js";

export function startPeople({ api, read }) {
  const view = find("#people");
  const speakers = find("#speakers");
  const renewals = find("#renewals");
  const known = new Set();
  let named;
  const { reload: reloadKnown, attempt } = listing(view, { page, row });

  // That nobody is known is said once both lists are read.
  async function page(from) {
    const [found] = await Promise.all([api.people(from), named.catch(() => [])]);
    for (const { name } of found.items) known.add(name);
    return found;
  }

  async function reload() {
    known.clear();
    named = api.namedSpeakers();
    await reloadKnown();
    await attempt(async () => {
      const others = (await named).filter(({ name }) => !known.has(name));
      find("ul", speakers).replaceChildren(...others.map(speakerRow));
      speakers.hidden = !others.length;
      if (others.length) find(".empty", view).hidden = true;
    });
    await attempt(async () => {
      const { done, total } = await api.renewals();
      renewals.hidden = !total;
      renewals.textContent = t("Read again because of a new name: {done} of {total} conversations", { done, total });
    });
  }

  function speakerRow({ name, conversation_count: count, last_conversation_id: id, last_spoke_at: last }) {
    return el("li", {}, el("span", { class: "content", dir: "auto" }, name),
      el("div", { class: "tools" }, iconButton("open", t("Open the last conversation with {name}", { name }), () => read(id))),
      el("p", { class: "meta" }, tn({ one: "{n} conversation, on {day}", other: "{n} conversations, last on {day}" }, count, { day: day(last) })));
  }

  function row(person) {
    const name = el("span", { class: "content", dir: "auto" }, person.name);
    const role = el("p", { class: "role", dir: "auto" }, person.role);
    const change = (request) => (text) => attempt(async () => {
      await request(person.id, text);
      await reload();
    });
    const roleLabel = t("Who {name} is to you", { name: person.name });
    return el("li", {}, name,
      el("div", { class: "tools" },
        iconButton("pen", t("Rename {name}", { name: person.name }), () => edit(name, { label: t("Name"), text: person.name }, change(api.renamePerson))),
        iconButton("people", roleLabel, () => edit(role, { label: roleLabel, text: person.role, placeholder: t("my sister, my dentist"), clears: true, maxlength: 64 }, change(api.setRole))),
        iconButton("bin", t("Delete {name}", { name: person.name }), () => removeLater({ id: person.id, title: person.name }, api.deletePerson, reload))),
      role,
      el("p", { class: "meta" }, t("known since {day}", { day: day(person.created_at) })));
  }

  return { reload };
}
