// Memories: each fact with the quotation that proves it and the facts it replaced.

import { el, find, iconButton, moveTo, onSubmit } from "../dom.js";
import { day } from "../words.js";
import { edit } from "./edit.js";
import { listing } from "./listing.js";
import { startMerging } from "./merge.js";

/** Returns `{reload}`; `read(id)` opens a conversation. */
export function startMemories({ api, read }) {
  const view = find("#memories");
  const form = find("form", view);
  const { reload, attempt } = listing(view, { page: api.memories, row });
  const merging = startMerging({ api, onMerged: async () => {
    await refresh();
    moveTo(find(".rows > li", view));
  } });

  async function refresh() {
    await reload();
    merging.reset();
  }

  function row(memory) {
    const content = el("span", { class: "content" }, memory.content);
    const change = (text) => attempt(async () => {
      await api.editMemory(memory.id, text);
      await refresh();
    });
    return el("li", {},
      el("label", { class: "check" }, merging.box(memory), content),
      el("div", { class: "tools" },
        iconButton("pen", `Edit: ${memory.content}`, () => edit(content, { label: "Memory", text: memory.content, long: true }, change)),
        iconButton("bin", `Delete: ${memory.content}`, () => remove(memory))),
      el("p", { class: "meta" }, origin(memory)),
      details(memory));
  }

  function remove(memory) {
    if (!confirm(`Delete “${memory.content}”? It will not be remembered again.`)) return;
    attempt(async () => {
      await api.deleteMemory(memory.id);
      await refresh();
    });
  }

  function details({ id, content, evidence, conversation_id, segment }) {
    const superseded = el("ol", { class: "earlier", "aria-label": "Earlier", "aria-live": "polite" });
    const open = () => read(conversation_id, { segment });
    const node = el("details", {}, el("summary", { "aria-label": `Source and history: ${content}` }, "Source and history"),
      evidence ? el("blockquote", {}, evidence) : el("p", { class: "meta" }, "You wrote this memory."),
      conversation_id && el("button", { type: "button", class: "quiet", onclick: open }, "Open the conversation"),
      superseded);
    node.addEventListener("toggle", () => node.open && attempt(async () => {
      const history = await api.memoryHistory(id);
      superseded.replaceChildren(...history.map(supersededRow));
    }));
    return node;
  }

  onSubmit(form, () => {
    const text = find("input", form).value.trim();
    if (text) return attempt(async () => {
      await api.addMemory(text);
      form.reset();
      await refresh();
    });
  });
  return { reload: refresh };
}

function supersededRow({ content, valid_to }) {
  return el("li", {}, content, valid_to && el("span", { class: "meta" }, ` until ${day(valid_to)}`));
}

function origin({ category, created_at, mentions, edited, manually_added }) {
  const notes = [manually_added ? "written by you" : category, day(created_at), mentions > 1 && `mentioned ${mentions} times`, edited && "edited"];
  return notes.filter(Boolean).join(" · ");
}
