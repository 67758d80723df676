// The session of this tab: who is signed in, and a token that still holds.

const SESSION = "keepsake.session";
const FAREWELL = "keepsake.farewell";
const MARGIN_MS = 60_000; // a token is renewed this long before it ends

/** Reads what the console's host says of the sign-in; without a word it is the local key. */
export async function loadConfig() {
  const response = await fetch("/config.json", { cache: "no-store" }).catch(() => null);
  return response?.ok ? response.json() : { sign_in: "key" };
}

/** Stores a session until this tab is closed; returns it as `openSession` does. */
export function storeSession(saved) {
  sessionStorage.setItem(SESSION, JSON.stringify(saved));
  return openSession(saved);
}

/** Returns the session of this tab, or null. */
export function restoreSession() {
  const saved = sessionStorage.getItem(SESSION);
  return saved && openSession(JSON.parse(saved));
}

/**
 * A reload drops every timer, request and element of the user; the address may name one of their conversations.
 * `farewell` is shown where the next one signs in.
 */
export function signOut(farewell = "") {
  sessionStorage.clear();
  sessionStorage.setItem(FAREWELL, farewell);
  history.replaceState(null, "", location.pathname + location.search);
  location.reload();
}

/** Ends what a sign-out left, also what the old page wrote while it went; returns what the last one to leave is told, once. */
export function takeFarewell() {
  const farewell = sessionStorage.getItem(FAREWELL);
  if (farewell === null) return "";
  sessionStorage.clear();
  endNotifications().catch(() => {});
  return farewell;
}

// Whoever signs in next must not see this user's notifications; the server hears of it from the push service.
async function endNotifications() {
  const registration = await navigator.serviceWorker?.getRegistration();
  await (await registration?.pushManager?.getSubscription())?.unsubscribe();
}

/** `getToken` returns the token, renewed once for all who ask at the same time. */
function openSession(saved) {
  let current = saved;
  let renewal = null;
  async function renew() {
    const { refresh } = await import("./firebase.js");
    current = await refresh(await loadConfig(), current);
    sessionStorage.setItem(SESSION, JSON.stringify(current));
  }
  async function getToken() {
    if (current.refreshToken && current.expiresAt - Date.now() < MARGIN_MS) {
      renewal ??= renew().finally(() => { renewal = null; });
      await renewal;
    }
    return current.token;
  }
  return { uid: saved.uid, name: saved.name ?? saved.uid, getToken };
}
