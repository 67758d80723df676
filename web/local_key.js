// The local key, which signs in: taken from the address, and stored until this tab is closed.

const KEY = "keepsake.local-key";

/** Takes the key from the fragment, and removes it from the address bar and the history of the tab. */
export function takeKeyFromAddress() {
  const key = new URLSearchParams(location.hash.slice(1)).get("key");
  if (!key) return;
  storeKey(key);
  history.replaceState(null, "", location.pathname + location.search);
}

export const loadKey = () => sessionStorage.getItem(KEY) ?? "";
export const storeKey = (key) => sessionStorage.setItem(KEY, key);
export const forgetKey = () => sessionStorage.removeItem(KEY);
