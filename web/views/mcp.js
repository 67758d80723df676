// MCP servers as own apps: an address, and a sign-in where the server asks for one.

import { attempting, find, onSubmit } from "../dom.js";
import { t, tn } from "../i18n.js";
import { askingForLocal } from "./local_address.js";
import { openOtherWindow } from "./other_window.js";

/** `onAdded()` is called when an app was added, or its tools were. */
export function startMcp({ api, onAdded }) {
  const view = find("#mcp");
  const form = find("form", view);
  const status = find("[role=status]", view);
  const attempt = attempting(find(".problem", view));
  const open = openOtherWindow(status);

  const add = (name, address) => attempt(async () => {
    const { app_id: id, auth_url: url, tools_count: tools } = await askingForLocal(
      (leave) => api.addMcpServer({ name, mcp_server_url: address, ...leave }),
    );
    form.reset();
    onAdded();
    if (url) attempt(() => signIn(url, id, name));
    else showAdded(name, tools);
  });

  async function signIn(url, id, name) {
    const isDone = async () => (await api.app(id)).chat_tools.length > 0;
    if (!(await open(url, t("Sign in to {name} in the other window, or open it again", { name }), isDone))) return;
    onAdded();
    showAdded(name, (await api.app(id)).chat_tools.length);
  }

  function showAdded(name, tools) {
    status.textContent = tn({
      one: "{name} is added with {n} tool: install it to use it.",
      other: "{name} is added with {n} tools: install it to use them.",
    }, tools, { name });
  }

  onSubmit(form, () => add(form.elements.name.value.trim(), form.elements.address.value));
}
