// Installation: registers the service worker, and keeps the language of its offline page.

import { catalogPath } from "./i18n.js";
import { addressOf } from "./router.js";

const SCRIPT = "/service_worker.js";

/** Registers the service worker once the page is loaded; resolves to its registration, or to null without one. */
export async function installServiceWorker() {
  if (!navigator.serviceWorker) return null;
  if (document.readyState !== "complete") await new Promise((resolve) => addEventListener("load", resolve, { once: true }));
  navigator.serviceWorker.addEventListener("message", ({ data }) => (location.hash = addressOf(data.show)));
  const registration = await navigator.serviceWorker.register(scriptUrl()).catch(() => null);
  if (registration && catalogPath) await (await caches.open("shell")).add(catalogPath).catch(() => {});
  return registration;
}

function scriptUrl() {
  const rules = { createScriptURL: () => SCRIPT };
  return globalThis.trustedTypes?.createPolicy("service-worker", rules).createScriptURL("") ?? SCRIPT;
}
