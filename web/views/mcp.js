// MCP servers as apps of one's own: an address, and for some of them a sign-in at their side.

import { attempting, find, onSubmit } from "../dom.js";
import { elsewhere } from "./elsewhere.js";

/** `onAdded()` is called when there is an app more, or one with tools. */
export function startMcp({ api, onAdded }) {
  const view = find("#mcp");
  const form = find("form", view);
  const told = find("[role=status]", view);
  const attempt = attempting(find(".problem", view));
  const go = elsewhere(told);

  const add = (name, address) => attempt(async () => {
    const { app_id: id, auth_url: url, tools_count: tools } = await api.addMcpServer(name, address);
    form.reset();
    onAdded();
    if (url) attempt(() => signIn(url, id, name));
    else tell(name, tools);
  });

  async function signIn(url, id, name) {
    const isDone = async () => (await api.app(id)).chat_tools.length > 0;
    if (!(await go(url, `${name} asks who you are in another window; open it again`, isDone))) return;
    onAdded();
    tell(name, (await api.app(id)).chat_tools.length);
  }

  function tell(name, tools) {
    told.textContent = `${name} is added with ${tools} ${tools === 1 ? "tool" : "tools"}: install it to use them.`;
  }

  onSubmit(form, () => add(form.elements.name.value.trim(), form.elements.address.value));
}
