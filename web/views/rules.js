// Rules: what every answer keeps to, with the words of the owner that each comes from.

import { el, find, iconButton, onSubmit } from "../dom.js";
import { at } from "../http.js";
import { t } from "../i18n.js";
import { day } from "../words.js";
import { edit } from "./edit.js";
import { listing } from "./listing.js";
import { remains, removeLater, settle } from "./throwing_away.js";

const MAX_CHARS = 280;

/** Returns the section `node`, and `reload()`. */
export function startRules({ api }) {
  const field = el("input", { id: "rule", dir: "auto", required: true, maxlength: MAX_CHARS, placeholder: t("How answers should be") });
  const form = el("form", { class: "add" }, el("label", { for: "rule", class: "unseen" }, t("A new rule")), field, el("button", { class: "primary" }, t("Add")));
  const archived = el("ul", { class: "rows" });
  const archive = el("details", { class: "archived", hidden: true }, el("summary", {}, t("Archived rules")), archived);
  const node = el("section", { id: "rules", "aria-labelledby": "rules-title" },
    el("h3", { id: "rules-title" }, t("Rules")),
    el("p", { class: "hint" }, t("Every answer keeps to them. Of more than 20, the oldest is archived.")),
    form,
    el("p", { class: "problem", role: "alert", hidden: true }),
    el("p", { class: "hint empty", hidden: true }, t("No rules yet.")),
    el("ul", { class: "rows" }),
    el("button", { type: "button", class: "more", hidden: true }, t("Show more")),
    archive);
  const { reload, attempt } = listing(node, { page, row });

  async function page() {
    const rules = await api.call("GET", "/v2/rules");
    const old = rules.filter(({ archived_at }) => archived_at).filter(remains);
    archived.replaceChildren(...old.map(row));
    archive.hidden = old.length === 0;
    return { items: rules.filter(({ archived_at }) => !archived_at), next: null };
  }

  const change = (method, path, body) => attempt(async () => {
    await api.call(method, path, { body });
    await reload();
  });

  function row({ id, text, quote, created_at }) {
    const content = el("span", { class: "content", dir: "auto" }, text);
    const editing = { label: t("Rule"), text, long: true, maxlength: MAX_CHARS };
    return el("li", {}, content,
      el("div", { class: "tools" },
        iconButton("pen", t("Edit: {text}", { text }), () => edit(content, editing, (changed) => change("PATCH", at`/v2/rules/${id}`, { text: changed }))),
        iconButton("bin", t("Delete: {text}", { text }), () => removeLater({ id, title: text }, remove, reload))),
      el("p", { class: "meta" }, `${quote ? t("said in a chat") : t("written by you")} · ${day(created_at)}`),
      quote && el("blockquote", { dir: "auto" }, quote));
  }

  const remove = (id) => api.call("DELETE", at`/v2/rules/${id}`);

  onSubmit(form, () => attempt(async () => {
    await settle(); // what is deleted counts no longer
    await api.call("POST", "/v2/rules", { body: { text: field.value.trim() } });
    form.reset();
    await reload();
  }));
  return { node, reload };
}
