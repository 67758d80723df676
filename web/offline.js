// The page without a connection: it retries when asked to, and when the connection is back.

import { translatePage } from "./i18n.js";

translatePage();
document.querySelector("#retry").addEventListener("click", () => location.reload());
window.addEventListener("online", () => location.reload());
