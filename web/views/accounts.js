// Accounts of a self-hosted server: a password of one's own, and the people whom its operator invited.

import { changePassword } from "../api.js";
import { attempting, el, find, onSubmit } from "../dom.js";
import { t } from "../i18n.js";
import { loadConfig } from "../session.js";
import { copyable } from "./copyable.js";

/** Returns `{reload}`; shows nothing where people sign in otherwise. */
export function startAccounts({ api, uid, signOut }) {
  const change = find("#password-change");
  const people = find("#accounts");
  const form = find("form", people);
  const attempt = attempting(find(".problem", people));

  onSubmit(find("form", change), () => attempting(find(".problem", change))(async () => {
    await changePassword({ uid, password: find("#current-password").value, new_password: find("#new-password").value });
    signOut(t("Your password is changed. Sign in with the new one."));
  }));
  onSubmit(form, () => attempt(async () => {
    const { name, password } = await api.invite(find("input", form).value.trim());
    form.reset();
    await list();
    find("[role=status]", people).replaceChildren(
      t("{name} can sign in with this password, which is shown only now:", { name }), copyable(t("Copy the password"), password));
  }));

  let latest = 0;
  async function list() {
    const ticket = ++latest;
    const { names } = await api.accounts();
    if (ticket !== latest) return;
    find("ul", people).replaceChildren(...names.map((name) => el("li", {}, name)));
  }

  // Only the operator may see them.
  async function reload() {
    change.hidden = (await loadConfig()).sign_in !== "password";
    people.hidden = change.hidden || !(await list().then(() => true, () => false));
  }
  return { reload };
}
