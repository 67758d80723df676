// Firebase sign-in by its REST interface: what the console needs of it, without the SDK's 160 KB.

import { Problem, query } from "./http.js";
import { t } from "./i18n.js";

const ACCOUNTS = "https://identitytoolkit.googleapis.com/v1/accounts";
const TOKENS = "https://securetoken.googleapis.com/v1/token";
const GOOGLE = "https://accounts.google.com/o/oauth2/v2/auth";
const STATE = "keepsake.google-state";
const PLACE = "keepsake.google-place";
const WORDS = {
  EMAIL_NOT_FOUND: t("The e-mail address or the password is wrong."),
  INVALID_PASSWORD: t("The e-mail address or the password is wrong."),
  INVALID_LOGIN_CREDENTIALS: t("The e-mail address or the password is wrong."),
  INVALID_EMAIL: t("That is no e-mail address."),
  EMAIL_EXISTS: t("There is an account with this e-mail address already. Sign in instead."),
  WEAK_PASSWORD: t("Choose a password of at least six characters."),
  OPERATION_NOT_ALLOWED: t("This way to sign in is switched off here."),
  ADMIN_ONLY_OPERATION: t("New accounts are made by whoever runs this server."),
  USER_DISABLED: t("This account was disabled by whoever runs this server."),
  TOO_MANY_ATTEMPTS_TRY_LATER: t("There were too many attempts. Try again in a few minutes."),
  TOKEN_EXPIRED: t("Your sign-in has ended. Sign in again."),
  USER_NOT_FOUND: t("Your account no longer exists."),
  INVALID_REFRESH_TOKEN: t("Your sign-in has ended. Sign in again."),
  INVALID_IDP_RESPONSE: t("Google's answer was not accepted. Try again."),
};

export const signIn = (config, email, password) =>
  enter(config, "signInWithPassword", { email, password });

export const createAccount = (config, email, password) => enter(config, "signUp", { email, password });

/** Sends a mail with a link; the answer is the same where nobody has the address. */
export async function sendPasswordReset(config, email) {
  try {
    await post(`${ACCOUNTS}:sendOobCode?${query({ key: config.apiKey })}`, { requestType: "PASSWORD_RESET", email });
  } catch (problem) {
    if (problem.code !== "EMAIL_NOT_FOUND") throw problem;
  }
}

/** Leaves for Google, which comes back to this page with a token in the fragment. */
export function leaveForGoogle(config) {
  const state = crypto.randomUUID();
  sessionStorage.setItem(STATE, state);
  sessionStorage.setItem(PLACE, location.hash);
  location.assign(`${GOOGLE}?${query({
    client_id: config.googleClientId, redirect_uri: `${location.origin}/`, response_type: "token",
    scope: "openid email profile", prompt: "select_account", state,
  })}`);
}

/** Returns the address from which somebody left for Google, once. */
export function takePlace() {
  const place = sessionStorage.getItem(PLACE) ?? "";
  sessionStorage.removeItem(PLACE);
  return place;
}

/** Returns the session of whoever comes back from Google, or null; a foreign answer counts as none. */
export async function returnFromGoogle(config, fragment) {
  const expected = sessionStorage.getItem(STATE);
  sessionStorage.removeItem(STATE);
  if (!expected || fragment.get("state") !== expected) return null;
  if (fragment.get("error")) throw new Problem(t("Signing in with Google was cancelled."));
  const credential = new URLSearchParams({ providerId: "google.com", access_token: fragment.get("access_token") });
  return enter(config, "signInWithIdp", { postBody: String(credential), requestUri: `${location.origin}/` });
}

/** Returns the session with a new token. A refusal has the status 401: the sign-in has ended. */
export async function refresh(config, session) {
  const body = new URLSearchParams({ grant_type: "refresh_token", refresh_token: session.refreshToken });
  try {
    const fresh = await post(`${TOKENS}?${query({ key: config.apiKey })}`, body);
    return { ...session, token: fresh.id_token, refreshToken: fresh.refresh_token, expiresAt: toMoment(fresh.expires_in) };
  } catch (problem) {
    throw problem.status === 400 ? new Problem(problem.message, 401) : problem;
  }
}

async function enter(config, method, fields) {
  const account = await post(`${ACCOUNTS}:${method}?${query({ key: config.apiKey })}`, { ...fields, returnSecureToken: true });
  return {
    uid: account.localId, name: account.email ?? account.localId, token: account.idToken,
    refreshToken: account.refreshToken, expiresAt: toMoment(account.expiresIn),
  };
}

const toMoment = (seconds) => Date.now() + Number(seconds) * 1000;

async function post(address, fields) {
  const isForm = fields instanceof URLSearchParams;
  const options = isForm ? { body: fields } : { body: JSON.stringify(fields), headers: { "Content-Type": "application/json" } };
  const response = await fetch(address, { method: "POST", ...options }).catch(() => null);
  if (!response) throw new Problem(t("The sign-in service cannot be reached. Check the connection and try again."));
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  const code = /^\w+/.exec(answer.error?.message ?? "")?.[0];
  const problem = new Problem(WORDS[code] ?? t("The sign-in service answered {status}.", { status: response.status }), response.status);
  throw Object.assign(problem, { code });
}
