// Notifications in this browser: a subscription at its push service, which the server knows as a device.

import { attempting, find } from "../dom.js";
import { t } from "../i18n.js";

const BROWSER = "keepsake.browser";

export function startBrowserPush({ api }) {
  const box = find("#browser-push");
  const attempt = attempting(find("#settings-notifications .problem"));

  async function subscribe(registration) {
    if ((await Notification.requestPermission()) !== "granted") {
      throw new Error(t("The browser does not allow notifications of this page. Its settings can."));
    }
    const { key } = await api.webPushKey();
    const subscription = await registration.pushManager
      .subscribe({ userVisibleOnly: true, applicationServerKey: key })
      .catch(() => { throw new Error(t("The browser's push service refused. A private window has none; otherwise try again later.")); });
    await api.saveBrowser(browserId(), JSON.stringify(subscription));
  }

  async function unsubscribe(registration) {
    await api.removeBrowser(browserId());
    await (await registration.pushManager.getSubscription())?.unsubscribe();
  }

  box.addEventListener("change", () => attempt(async () => {
    const wanted = box.checked;
    box.checked = !wanted;
    const registration = await navigator.serviceWorker.ready;
    await (wanted ? subscribe(registration) : unsubscribe(registration));
    box.checked = wanted;
  }));

  // The box works where the browser can be reached.
  return { reload: () => attempt(async () => {
    const registration = await navigator.serviceWorker?.getRegistration();
    if (!registration?.pushManager) return;
    box.checked = Boolean(await registration.pushManager.getSubscription());
    box.disabled = false;
  }) };
}

function browserId() {
  const id = localStorage.getItem(BROWSER) ?? crypto.randomUUID();
  localStorage.setItem(BROWSER, id);
  return id;
}
