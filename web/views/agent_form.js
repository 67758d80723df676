// The form of a custom agent, for a new one and for changes.

import { el, onSubmit } from "../dom.js";
import { t } from "../i18n.js";
import { upload } from "../uploads.js";

const NEW = { name: "", emoji: "", description: "", instructions: "", role: "agent", replaces_prompt: false, tools: null };

/** Returns the form; `save(fields)` gets what was entered, `close()` is called on Cancel and Escape. */
export function agentForm({ api, agent = NEW, models, close, attempt, save }) {
  const name = el("input", { required: true, maxlength: "60", dir: "auto", value: agent.name });
  const emoji = el("input", { maxlength: "8", size: "4", value: agent.emoji });
  const picture = el("input", { type: "file", accept: "image/*" });
  const description = el("input", { maxlength: "300", dir: "auto", value: agent.description });
  const instructions = el("textarea", { required: true, maxlength: "8000", rows: "5", dir: "auto" }, agent.instructions);
  const role = el("select", {}, ...models.map((model) => el("option", { value: model.id, selected: model.id === agent.role }, model.name)));
  const mayAct = el("input", { type: "checkbox", checked: agent.tools === null || agent.tools.length > 0 });
  const replaces = el("input", { type: "checkbox", checked: agent.replaces_prompt });
  const form = el("form", { class: "agent" },
    el("label", {}, t("Name"), " ", name), el("label", {}, t("Emoji"), " ", emoji),
    el("label", {}, t("Picture"), " ", picture),
    el("label", {}, t("What it is for"), " ", description), el("label", {}, t("How it answers"), " ", instructions),
    models.length > 1 && el("label", {}, t("Model"), " ", role),
    el("label", { class: "check" }, mayAct, el("span", {}, t("It may search your library and use tools"))),
    el("label", { class: "check" }, replaces, el("span", {}, t("It does not keep to what you told the assistant in your account"))),
    el("div", { class: "choice" }, el("button", { class: "primary" }, t("Save")), el("button", { type: "button", onclick: close }, t("Cancel"))));
  onSubmit(form, () => attempt(async () => save({
    name: name.value.trim(), emoji: emoji.value.trim(), description: description.value.trim(), instructions: instructions.value,
    role: models.length > 1 ? role.value : agent.role, replaces_prompt: replaces.checked,
    tools: chooseTools(mayAct.checked, agent.tools), picture_file_id: await handIn(api, picture.files[0]),
  })));
  form.addEventListener("keydown", (event) => event.key === "Escape" && close());
  return form;
}

// A picture is one of the owner's files; without a new one, the old one stays.
async function handIn(api, file) {
  if (!file) return undefined;
  const [read] = await api.addFiles([await upload(api, file, () => {})]);
  if (read.status === "rejected") throw new Error(read.reason);
  return read.id;
}

// Tools that were named one by one stay so.
function chooseTools(mayAct, tools) {
  if (!mayAct) return [];
  return tools?.length ? tools : null;
}
