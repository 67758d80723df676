// The account: which programs may read it, take everything along, or have everything erased.

import { attempting, el, find, onSubmit, say } from "../dom.js";
import { keys } from "./keys.js";

const LOOK_EVERY_MS = 500;

export function startAccount({ api, uid, signOut }) {
  const view = find("#account");
  const form = find("form", view);
  const progress = find("#erased");
  const attempt = attempting(find(".problem", view));

  async function takeAlong() {
    const url = URL.createObjectURL(await api.exported());
    el("a", { href: url, download: `keepsake-${uid}.zip` }).click();
    URL.revokeObjectURL(url);
  }

  async function erase() {
    if (find("input", form).value !== uid) return say(find(".problem", view), `Type ${uid} to confirm.`);
    for (let found = await api.erase(); found.status !== "done"; found = await api.erasure()) {
      progress.textContent = `Erasing: ${found.documents} documents so far`;
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
    signOut();
  }

  const showKeys = () => find(".programs", view).replaceChildren(keys({
    heading: "Programs that speak MCP",
    list: api.mcpKeys,
    create: async () => {
      const name = prompt("Which program is it for?");
      return name && (await api.createMcpKey(name)).key;
    },
    revoke: api.revokeMcpKey,
    attempt,
  }));

  find("#export").addEventListener("click", () => attempt(takeAlong));
  onSubmit(form, () => attempt(erase));
  return { reload: showKeys };
}
