// The account: keys, usage, retention, kept sound, export and erasure.

import { attempting, el, find, moveTo, onSubmit, say } from "../dom.js";
import { t, tn } from "../i18n.js";
import { startAccounts } from "./accounts.js";
import { askName } from "./asking.js";
import { startBrowserPush } from "./browser_push.js";
import { startChatPrompt } from "./chat_prompt.js";
import { keys } from "./keys.js";
import { startModel } from "./model.js";
import { startPrivacy } from "./privacy.js";
import { programs } from "./programs.js";
import { startSummarySettings } from "./summary_settings.js";
import { settle } from "./throwing_away.js";
import { startUsage } from "./usage.js";

const POLL_MS = 500;

/** Returns `show(section)`, which loads all settings and goes to a section if one is named. */
export function startAccount({ api, uid, signOut }) {
  const view = find("#account");
  const form = find("form:has(#erase-name)", view);
  const progress = find("#erasure-progress");
  const attempt = attempting(find(".problem", view));
  const usage = startUsage({ api });
  const model = startModel({ api });
  const privacy = startPrivacy({ api });
  const browserPush = startBrowserPush({ api });
  const summary = startSummarySettings({ api });
  const chatPrompt = startChatPrompt({ api });
  const accounts = startAccounts({ api, uid, signOut });

  async function exportAll() {
    const url = URL.createObjectURL(await api.exportAll());
    el("a", { href: url, download: `keepsake-${uid}.zip` }).click();
    URL.revokeObjectURL(url);
  }

  async function erase() {
    if (find("input", form).value !== uid) return say(find(".problem", view), t("Type {name} to confirm.", { name: uid }));
    let erasure = await api.erase();
    await (await import("../sealed/keys.js")).deleteKeys(uid);
    for (; erasure.status !== "done"; erasure = await api.erasure()) {
      progress.textContent = tn({ one: "Erasing: {n} document so far", other: "Erasing: {n} documents so far" }, erasure.documents);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    signOut(t("All your data is erased."));
  }

  async function signOutEverywhere() {
    await api.signOutEverywhere(find("#ends-keys").checked);
    signOut(t("You are signed out everywhere."));
  }

  const mcpKeys = () => keys({
    heading: t("MCP keys"),
    list: api.mcpKeys,
    create: async () => {
      const asked = await askName(t("Which program is it for?"), [["create", t("New key")]]);
      return asked && (await api.createMcpKey(asked.name)).key;
    },
    revoke: api.revokeMcpKey,
    attempt,
  });

  const developerKeys = () => keys({
    heading: t("Developer keys"),
    list: api.developerKeys,
    create: async () => {
      const asked = await askName(t("Which script is it for?"), [["read", t("It only reads")], ["write", t("It may also change your library")]]);
      return asked && (await api.createDeveloperKey(asked.name, asked.answer === "write")).key;
    },
    revoke: api.revokeDeveloperKey,
    attempt,
  });

  const showPrograms = () => find(".programs", view).replaceChildren(programs({ api, attempt }), mcpKeys(), developerKeys());

  const showNote = async () => (find("#erasure-note").textContent = (await api.erasure()).note);

  const keepsAudio = find("#keeps-audio");
  const showSound = async () => {
    keepsAudio.checked = (await api.profile()).keeps_audio;
    keepsAudio.disabled = false;
  };

  keepsAudio.addEventListener("change", () => attempt(() => api.setKeepsAudio(keepsAudio.checked)));
  find("#sign-out-everywhere").addEventListener("click", () => attempt(signOutEverywhere));
  find("#export").addEventListener("click", () => attempt(exportAll));
  onSubmit(form, () => attempt(erase));
  const reload = () => {
    showPrograms();
    return Promise.all([attempt(showNote), attempt(showSound), usage.reload(), model.reload(), privacy.reload(), browserPush.reload(), summary.reload(), chatPrompt.reload(), attempt(accounts.reload)]);
  };

  // What is above the section grows while it loads; by then another may be shown.
  let shown = 0;
  async function show(section) {
    shown += 1;
    const started = shown;
    await settle(); // an export has nothing that was deleted, and no sign-out keeps it
    goTo(section);
    await reload();
    if (started === shown) goTo(section);
  }

  const goTo = (section) => {
    const place = section && find(`[data-section="${CSS.escape(section)}"]`, view);
    place?.scrollIntoView();
    if (place) moveTo(find("h3", place) ?? place);
  };
  return { show };
}
