// Custom agents: made, changed, shared by a link, and asked in chats of their own.

import { el, find, iconButton, moveTo } from "../dom.js";
import { t } from "../i18n.js";
import { addressOf } from "../router.js";
import { agentForm } from "./agent_form.js";
import { copyable } from "./copyable.js";
import { startFocusModes } from "./focus_modes.js";
import { listing } from "./listing.js";
import { removeLater } from "./throwing_away.js";

/** Returns `show(token)`, which offers the agent of a link if one is named; `open(id)` opens a chat. */
export function startAgents({ api, open }) {
  const view = find("#agents");
  const offer = find(".offer", view);
  const focusModes = startFocusModes({ api });
  const { reload, attempt } = listing(view, { page: api.agents, row });
  let models = [];

  function row(agent) {
    const { id, name } = agent;
    const link = el("div", { class: "wide", hidden: true });
    const node = el("li", { "data-id": id },
      el("button", { type: "button", class: "pick", onclick: () => begin(id) },
        ...portraitOf(agent),
        el("span", { class: "title", dir: "auto" }, titleOf(agent)),
        el("span", { class: "preview", dir: "auto" }, agent.description || agent.instructions)),
      el("div", { class: "tools" },
        iconButton("share", t("Share {name} by a link", { name }), () => share(agent, link)),
        iconButton("pen", t("Edit: {title}", { title: name }), () => edit(node, agent)),
        iconButton("bin", t("Delete {name}", { name }), () => removeLater({ id, title: name }, api.deleteAgent, reload))),
      el("p", { class: "meta" }, agent.is_foreign && t("Written by somebody else")), link);
    return node;
  }

  const begin = (id) => attempt(async () => open((await api.beginChat({ agent_id: id })).id));

  function edit(node, agent) {
    const opener = document.activeElement;
    const close = () => {
      form.replaceWith(node);
      opener.focus();
    };
    const form = agentForm({ api, agent, models, close, attempt, save: async (fields) => {
      await api.changeAgent(agent.id, fields);
      await reload();
      focusRow(agent.id);
    } });
    node.replaceWith(form);
    find("input", form).focus();
  }

  function create() {
    const close = () => {
      offer.replaceChildren();
      find(".new", view).focus();
    };
    const form = agentForm({ api, models, close, attempt, save: async (fields) => {
      const { id } = await api.addAgent(fields);
      offer.replaceChildren();
      await reload();
      focusRow(id);
    } });
    offer.replaceChildren(form);
    find("input", form).focus();
  }

  const share = (agent, place) => attempt(async () => {
    const { share_token: token } = await api.shareAgent(agent.id);
    const stop = el("button", { type: "button", onclick: () => attempt(async () => {
      await api.unshareAgent(agent.id);
      await reload();
      focusRow(agent.id);
    }) }, t("Stop sharing"));
    place.replaceChildren(
      el("p", {}, t("Whoever has this link may copy the agent, with its instructions.")),
      copyable(t("Copy the link"), `${location.origin}/${addressOf("agents", token)}`), stop);
    place.hidden = false;
    moveTo(place);
  });

  const offerShared = (token) => attempt(async () => {
    const agent = await api.sharedAgent(token);
    const add = el("button", { type: "button", class: "primary", onclick: () => attempt(async () => {
      const { id } = await api.addSharedAgent(token);
      offer.replaceChildren();
      await reload();
      focusRow(id);
    }) }, t("Add"));
    offer.replaceChildren(
      ...portraitOf(agent),
      el("h3", { dir: "auto" }, titleOf(agent)), el("p", { dir: "auto" }, agent.description),
      el("p", { class: "passage", dir: "auto" }, agent.instructions),
      el("p", { class: "hint" }, t("Somebody else wrote this. The assistant follows it in chats with this agent, but asks you as always.")),
      el("div", { class: "choice" }, add, el("button", { type: "button", onclick: () => offer.replaceChildren() }, t("Close"))));
    add.focus();
  });

  const focusRow = (id) => find(`[data-id="${CSS.escape(id)}"] button`, view)?.focus();

  find(".new", view).addEventListener("click", create);
  return {
    show: async (token) => {
      offer.replaceChildren();
      models = (await api.chatModels()).models;
      await Promise.all([reload(), focusModes.reload()]);
      if (token) await offerShared(token);
    },
  };
}

const titleOf = ({ emoji, name }) => [emoji, name].filter(Boolean).join(" ");

const portraitOf = ({ picture }) => (picture ? [el("img", { class: "logo", src: picture, alt: "", width: 24, height: 24 })] : []);
