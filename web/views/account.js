// The account: MCP keys, usage, retention, export and erasure.

import { attempting, el, find, onSubmit, say } from "../dom.js";
import { keys } from "./keys.js";
import { startUsage } from "./usage.js";

const POLL_MS = 500;

export function startAccount({ api, uid, signOut }) {
  const view = find("#account");
  const form = find("form", view);
  const progress = find("#erasure-progress");
  const attempt = attempting(find(".problem", view));
  const usage = startUsage({ api });

  async function exportAll() {
    const url = URL.createObjectURL(await api.exportAll());
    el("a", { href: url, download: `keepsake-${uid}.zip` }).click();
    URL.revokeObjectURL(url);
  }

  async function erase() {
    if (find("input", form).value !== uid) return say(find(".problem", view), `Type ${uid} to confirm.`);
    for (let erasure = await api.erase(); erasure.status !== "done"; erasure = await api.erasure()) {
      progress.textContent = `Erasing: ${erasure.documents} documents so far`;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    signOut();
  }

  const showKeys = () => find(".programs", view).replaceChildren(keys({
    heading: "MCP keys",
    list: api.mcpKeys,
    create: async () => {
      const name = prompt("Which program is it for?");
      return name && (await api.createMcpKey(name)).key;
    },
    revoke: api.revokeMcpKey,
    attempt,
  }));

  const showNote = async () => (find("#erasure-note").textContent = (await api.erasure()).note);

  find("#export").addEventListener("click", () => attempt(exportAll));
  onSubmit(form, () => attempt(erase));
  return { reload: () => (attempt(showNote), usage.reload(), showKeys()) };
}
