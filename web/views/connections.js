// Connected accounts at outside services: connect in another window, disconnect here.

import { attempting, el, find } from "../dom.js";
import { day } from "../words.js";
import { openOtherWindow } from "./other_window.js";

const STATES = {
  connected: ({ account, connected_at }) => `Connected${account ? ` as ${account}` : ""} since ${day(connected_at)}`,
  expired: () => "The connection has expired",
  not_connected: () => "Not connected",
};

/** Returns `{reload}`; `onChange()` is called when an account was connected or disconnected. */
export function startConnections({ api, onChange }) {
  const view = find("#connections");
  const attempt = attempting(find(".problem", view));
  const status = find("[role=status]", view);
  const open = openOtherWindow(status);

  const reload = () => attempt(async () => {
    const services = await api.connections();
    const missing = services.filter(({ available }) => !available).map(({ label }) => label);
    find(".rows", view).replaceChildren(...services.filter(({ available }) => available).map(row));
    find(".missing", view).textContent = missing.length ? `Not set up on this server: ${missing.join(", ")}.` : "";
  });

  function row(connection) {
    const { service, label, status } = connection;
    const [verb, act] = status === "connected" ? ["Disconnect", disconnect] : [status === "expired" ? "Reconnect" : "Connect", connect];
    return el("li", { "data-service": service },
      el("span", { class: "content" }, label),
      el("button", { type: "button", "aria-label": `${verb} ${label}`, onclick: () => attempt(() => act(connection)) }, verb),
      el("p", { class: "meta" }, STATES[status](connection)));
  }

  async function connect({ service, label }) {
    const { url } = await api.authorize(service);
    const isDone = async () => (await api.connection(service)).status === "connected";
    if (await open(url, `Continue in the other window, or open ${label} again`, isDone)) await showResult(service, `${label} is connected.`);
  }

  async function disconnect({ service, label }) {
    if (!confirm(`Disconnect ${label}? Its access is revoked and its tokens are deleted.`)) return;
    const { revoked } = await api.disconnect(service);
    await showResult(service, revoked ? `${label} is disconnected.` : `${label} is disconnected here. Also remove Keepsake's access in your account there.`);
  }

  async function showResult(service, text) {
    await reload();
    status.textContent = text;
    find(`[data-service="${CSS.escape(service)}"] button`, view)?.focus();
    onChange();
  }

  return { reload };
}
