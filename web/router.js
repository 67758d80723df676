// Addresses of the console: `#/view` or `#/view/id`. They are fragments, so every static host serves them.

/** The address of a view, or of one thing in it. */
export const addressOf = (view, id) => `#/${[view, id].filter(Boolean).map(encodeURIComponent).join("/")}`;

/** Reads an address; null where it is none of ours, such as the fragment of a sign-in. */
export function parseAddress(hash) {
  const [, view, id] = /^#\/([^/]+)(?:\/([^/]+))?$/.exec(hash) ?? [];
  try {
    return view ? { view: decodeURIComponent(view), id: id && decodeURIComponent(id) } : null;
  } catch {
    return null;
  }
}

/** Adds an address to the history of the tab, unless it is there already. */
export function recordAddress(view, id) {
  const address = addressOf(view, id);
  if (location.hash !== address) history.pushState(null, "", address);
}

/** Calls `show({view, id})` for the current address, and whenever back, forward or the address bar changes it. */
export function followAddress(show, home) {
  const follow = () => show(parseAddress(location.hash) ?? { view: home });
  window.addEventListener("popstate", follow);
  follow();
}

/** Names the page in the tab and in the history. */
export const setTitle = (title) => { document.title = title ? `${title} · Keepsake` : "Keepsake"; };
