// Connected accounts at outside services: connect in another window, disconnect here.

import { attempting, el, find } from "../dom.js";
import { t } from "../i18n.js";
import { day } from "../words.js";
import { isSure } from "./asking.js";
import { openOtherWindow } from "./other_window.js";

const STATES = {
  connected: ({ account, connected_at }) => (account
    ? t("Connected as {account} since {day}", { account, day: day(connected_at) })
    : t("Connected since {day}", { day: day(connected_at) })),
  expired: () => t("The connection has expired"),
  not_connected: () => t("Not connected"),
};

const VERBS = { connected: t("Disconnect"), expired: t("Reconnect"), not_connected: t("Connect") };
const NAMED_VERBS = {
  connected: (service) => t("Disconnect {service}", { service }),
  expired: (service) => t("Reconnect {service}", { service }),
  not_connected: (service) => t("Connect {service}", { service }),
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
    find(".missing", view).textContent = missing.length ? t("Not set up on this server: {services}.", { services: missing.join(", ") }) : "";
  });

  function row(connection) {
    const { service, label, status } = connection;
    const act = status === "connected" ? disconnect : connect;
    return el("li", { "data-service": service },
      el("span", { class: "content", dir: "auto" }, label),
      el("button", { type: "button", "aria-label": NAMED_VERBS[status](label), onclick: () => attempt(() => act(connection)) }, VERBS[status]),
      el("p", { class: "meta" }, STATES[status](connection)));
  }

  async function connect({ service, label }) {
    const { url } = await api.authorize(service);
    const isDone = async () => (await api.connection(service)).status === "connected";
    if (await open(url, t("Continue in the other window, or open {service} again", { service: label }), isDone)) await showResult(service, t("{service} is connected.", { service: label }));
  }

  async function disconnect({ service, label }) {
    if (!(await isSure(t("Disconnect {service}? Its access is revoked and its tokens are deleted.", { service: label }), t("Disconnect")))) return;
    const { revoked } = await api.disconnect(service);
    await showResult(service, revoked
      ? t("{service} is disconnected.", { service: label })
      : t("{service} is disconnected here. Also remove Keepsake's access in your account there.", { service: label }));
  }

  async function showResult(service, text) {
    await reload();
    status.textContent = text;
    find(`[data-service="${CSS.escape(service)}"] button`, view)?.focus();
    onChange();
  }

  return { reload };
}
