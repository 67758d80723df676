// Service worker: the page that is shown without a connection, and notifications.
// Its cache holds that page alone, never an answer of the API. Everything else comes from the network,
// so a new release is shown at once; every visit brings the cached page up to date.

const CACHE = "shell";
const OFFLINE = "/offline.html";
const SHELL = [OFFLINE, "/offline.js", "/i18n.js", "/style/base.css", "/style/offline.css", "/favicon.svg"];

self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(refreshShell());
});

self.addEventListener("activate", (event) => event.waitUntil(takeOver()));

async function takeOver() {
  await self.registration.navigationPreload?.enable();
  await self.clients.claim();
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.mode === "navigate") {
    event.respondWith(openPage(event));
    return;
  }
  if (origin === location.origin && request.method === "GET" && isOfShell(pathname)) {
    event.respondWith(fetch(request).catch(() => findCached(pathname)));
  }
});

const isOfShell = (path) => SHELL.includes(path) || path.startsWith("/languages/");
const findCached = async (path) => (await caches.match(path)) ?? Response.error();

async function openPage(event) {
  try {
    const page = (await event.preloadResponse) ?? (await fetch(event.request));
    event.waitUntil(refreshShell().catch(() => {}));
    return page;
  } catch {
    return findCached(OFFLINE);
  }
}

// `no-cache` asks the server whether a file has changed; what has not is not sent again.
async function refreshShell() {
  const cache = await caches.open(CACHE);
  await cache.addAll(SHELL.map((path) => new Request(path, { cache: "no-cache", credentials: "omit" })));
}

self.addEventListener("push", (event) => {
  const { title, body, tag } = event.data.json();
  event.waitUntil(self.registration.showNotification(title, { body, tag, icon: "/icons/192.png", dir: "auto" }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(showInbox());
});

async function showInbox() {
  const [page] = await self.clients.matchAll({ type: "window" });
  if (!page) return self.clients.openWindow("/#/inbox");
  await page.focus();
  page.postMessage({ show: "inbox" });
}
