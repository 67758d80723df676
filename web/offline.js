// The page without a connection: it retries when asked to, and when the page it stands for answers again.

import { translatePage } from "./i18n.js";

const RETRY_MS = 3_000;
const IS_ITSELF = location.pathname === "/offline.html";

translatePage();
document.querySelector("#retry").addEventListener("click", () => location.reload());
window.addEventListener("online", () => location.reload());
// A browser may say that it is online before this page listens, and never says that a server is back.
if (!IS_ITSELF) setInterval(returnWhenAnswered, RETRY_MS);

async function returnWhenAnswered() {
  const answer = await fetch(location.href, { cache: "no-store" }).catch(() => null);
  if (answer?.ok) location.reload();
}
