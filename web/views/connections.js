// Accounts at other services: connected in a window of their own, and taken back here.

import { attempting, el, find } from "../dom.js";
import { day } from "../words.js";
import { elsewhere } from "./elsewhere.js";

const STATES = {
  connected: ({ account, connected_at }) => `Connected${account ? ` as ${account}` : ""} since ${day(connected_at)}`,
  expired: () => "The connection has expired",
  not_connected: () => "Not connected",
};

/** Returns `{reload}`. */
export function startConnections({ api }) {
  const view = find("#connections");
  const attempt = attempting(find(".problem", view));
  const told = find("[role=status]", view);
  const go = elsewhere(told);

  const reload = () => attempt(async () => {
    const services = await api.connections();
    const missing = services.filter(({ available }) => !available).map(({ label }) => label);
    find(".rows", view).replaceChildren(...services.filter(({ available }) => available).map(row));
    find(".missing", view).textContent = missing.length ? `Not set up on this server: ${missing.join(", ")}.` : "";
  });

  function row(found) {
    const { service, label, status } = found;
    const [verb, act] = status === "connected" ? ["Disconnect", disconnect] : [status === "expired" ? "Reconnect" : "Connect", connect];
    return el("li", { "data-service": service },
      el("span", { class: "content" }, label),
      el("button", { type: "button", "aria-label": `${verb} ${label}`, onclick: () => attempt(() => act(found)) }, verb),
      el("p", { class: "meta" }, STATES[status](found)));
  }

  async function connect({ service, label }) {
    const { url } = await api.authorize(service);
    const isDone = async () => (await api.connection(service)).status === "connected";
    if (await go(url, `${label} asks in another window; open it again`, isDone)) await settle(service, `${label} is connected.`);
  }

  async function disconnect({ service, label }) {
    if (!confirm(`Disconnect ${label}? Its tokens are taken back and forgotten.`)) return;
    const { revoked } = await api.disconnect(service);
    await settle(service, revoked ? `${label} is disconnected.` : `${label} is forgotten here; take back the access there, too.`);
  }

  async function settle(service, text) {
    await reload();
    told.textContent = text;
    find(`[data-service="${CSS.escape(service)}"] button`, view)?.focus();
  }

  return { reload };
}
