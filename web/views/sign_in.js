// Sign-in: with the local key, with an account's password, or with Firebase, as the host says.

import { signIn } from "../api.js";
import { find, onSubmit, say } from "../dom.js";
import { t } from "../i18n.js";
import { forgetKey, loadKey, storeKey, takeKeyFromAddress } from "../local_key.js";
import { loadConfig, storeSession } from "../session.js";

/** Shows the form of this host below a `farewell` to who left; `open` gets the session of whoever signs in. */
export async function startSignIn(open, { farewell }) {
  find("#farewell").textContent = farewell;
  const config = await loadConfig();
  const start = { password: startPassword, firebase: startFirebase }[config.sign_in] ?? startKey;
  await start({ config, open });
}

// The printed address has the key in its fragment; without a key, the form asks for it.
function startKey({ open }) {
  readAddress();
  window.addEventListener("hashchange", readAddress);
  onSubmit(showForm("#sign-in"), () => attempt("#sign-in", async () => {
    const uid = find("#uid").value.trim();
    const key = find("#local-key").value || loadKey();
    try {
      const session = storeSession({ uid, token: await signIn({ uid }, key) });
      storeKey(key);
      find("#local-key").value = "";
      open(session);
    } catch (problem) {
      if (problem.status === 401) forgetKey();
      showField("key", !loadKey());
      throw problem;
    }
  }));
}

function readAddress() {
  takeKeyFromAddress();
  showField("key", !loadKey());
}

function startPassword({ open }) {
  showField("password", true);
  onSubmit(showForm("#sign-in"), () => attempt("#sign-in", async () => {
    const uid = find("#uid").value.trim();
    const session = storeSession({ uid, token: await signIn({ uid, password: find("#password").value }) });
    find("#password").value = "";
    open(session);
  }));
}

async function startFirebase({ config, open }) {
  const firebase = await import("../firebase.js");
  const form = showForm("#firebase-sign-in");
  const email = () => find("#email").value.trim();
  const enter = (act) => attempt("#firebase-sign-in", async () => {
    const session = await act();
    if (session) open(storeSession(session));
  });
  onSubmit(form, () => enter(() => firebase.signIn(config, email(), find("#account-password").value)));
  onPress("#create-account", config.providers.includes("password") && config.signUp, () =>
    form.reportValidity() && enter(() => firebase.createAccount(config, email(), find("#account-password").value)));
  onPress("#reset-password", config.providers.includes("password"), () =>
    find("#email").reportValidity() && attempt("#firebase-sign-in", async () => {
      await firebase.sendPasswordReset(config, email());
      find("#firebase-sign-in [role=status]").textContent = t("If there is such an account, a mail is on its way.");
    }));
  onPress("#google", config.providers.includes("google.com"), () => firebase.leaveForGoogle(config));
  find("#by-mail").hidden = !config.providers.includes("password");
  const fragment = new URLSearchParams(location.hash.slice(1));
  if (!fragment.has("state")) return;
  history.replaceState(null, "", location.pathname + location.search + firebase.takePlace());
  await enter(() => firebase.returnFromGoogle(config, fragment));
}

function showForm(selector) {
  find("#welcome").hidden = false;
  const form = find(selector);
  form.hidden = false;
  find("input", form).focus();
  return form;
}

function showField(name, shown) {
  find(`#${name}-field`).hidden = !shown;
  find(`#${name}-field input`).required = shown;
}

function onPress(selector, offered, act) {
  const button = find(selector);
  button.hidden = !offered;
  button.addEventListener("click", act);
}

async function attempt(form, act) {
  const line = find(`${form} .problem`);
  say(line, "");
  try {
    await act();
  } catch (problem) {
    say(line, problem);
  }
}
