// Projects: made, renamed, deleted, and opened to their files and chats.

import { el, find, iconButton, onSubmit } from "../dom.js";
import { t } from "../i18n.js";
import { edit } from "./edit.js";
import { listing } from "./listing.js";
import { projectCalls } from "./project_calls.js";
import { projectContents } from "./project_contents.js";
import { removeLater } from "./throwing_away.js";

/** Returns `{reload}`; `open(id)` opens a chat. */
export function startProjects({ api: others, open }) {
  const api = { ...others, ...projectCalls(others.call) };
  const view = find("#projects");
  const form = el("form", { class: "add" },
    el("input", { "aria-label": t("A new project"), placeholder: t("Name of a project"), dir: "auto", required: true, maxlength: "100" }),
    el("button", { class: "primary" }, t("Add")));
  view.append(
    el("p", { class: "hint" }, t("Files and chats that belong together. The assistant knows the files in each of these chats.")), form,
    el("p", { class: "problem", role: "alert", hidden: true }), el("p", { class: "hint empty", hidden: true }, t("No projects yet.")),
    el("ul", { class: "rows" }), el("button", { type: "button", class: "more", hidden: true }, t("Show more")));
  const { reload, attempt } = listing(view, { page: api.projects, row });

  function row({ id, name }) {
    const contents = projectContents({ api, id, open });
    const title = el("button", { type: "button", class: "pick", "aria-expanded": "false", onclick: toggle },
      el("span", { class: "title", dir: "auto" }, name));
    function toggle() {
      contents.node.hidden = !contents.node.hidden;
      title.setAttribute("aria-expanded", String(!contents.node.hidden));
      if (!contents.node.hidden) contents.reload();
    }
    return el("li", { "data-id": id }, title,
      el("div", { class: "tools" },
        iconButton("pen", t("Rename {name}", { name }), () => edit(title, { label: t("Name"), text: name }, (text) => change(id, () => api.renameProject(id, text)))),
        iconButton("bin", t("Delete {name}", { name }), () => removeLater({ id, title: name }, api.deleteProject, reload))),
      contents.node);
  }

  const change = (id, act) => attempt(async () => {
    await act();
    await reload();
    find(`[data-id="${CSS.escape(id)}"] button`, view)?.focus();
  });

  onSubmit(form, () => attempt(async () => {
    const { id } = await api.addProject(find("input", form).value.trim());
    form.reset();
    await reload();
    find(`[data-id="${CSS.escape(id)}"] button`, view).click();
  }));
  return { reload };
}
