// The account: take everything along, or have everything erased.

import { el, find, say } from "../dom.js";

const LOOK_EVERY_MS = 500;

export function startAccount({ api, uid, signOut }) {
  const view = find("#account");
  const form = find("form", view);
  const progress = find("#erased");

  const attempt = async (button, act) => {
    button.disabled = true;
    say(find(".problem", view), "");
    try {
      await act();
    } catch (problem) {
      say(find(".problem", view), problem.message);
    }
    button.disabled = false;
  };

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

  find("#export").addEventListener("click", ({ target }) => attempt(target, takeAlong));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(find("button", form), erase);
  });
}
