// Meanings: what search compares on this server, and how much of one's own library is found by meaning.

import { find } from "../dom.js";
import { formatNumber, t } from "../i18n.js";
import { loadConfig } from "../session.js";

const POLL_MS = 10_000;

/** Returns what a server of one's own says of its search, null where another one serves. */
export async function loadSearch(api) {
  const { sign_in } = await loadConfig();
  return ["key", "password"].includes(sign_in) ? api.search().catch(() => null) : null;
}

/** Says what search compares, and how far that has come. */
export function describeSearch(search) {
  const compared = {
    off: t("Search compares words. The key of the model is not used for it."),
    local: t("Search compares meanings, by a small model on this machine. The key of the model is not used for it."),
    openai: t("Search compares meanings at OpenAI, with the key in the environment of the server."),
    unavailable: t("Search compares words alone: the small model that compares meanings does not run on this machine."),
  }[search?.embedder];
  return [compared, describeProgress(search)].filter(Boolean).join(" ");
}

/** Returns `{show()}`, which follows on the library's page what is still to be embedded. */
export function startMeanings({ api }) {
  const line = find("#found-by-meaning");
  let timer = null;

  async function show() {
    clearTimeout(timer);
    const progress = describeProgress(await loadSearch(api));
    line.textContent = progress;
    if (progress) timer = setTimeout(show, POLL_MS);
  }

  return { show };
}

function describeProgress(search) {
  if (search?.embedder !== "local" || !search.waiting_count) return "";
  const total = search.embedded_count + search.waiting_count;
  return t("{found} of {total} passages can be found by meaning; words find all of them.", {
    found: formatNumber(search.embedded_count), total: formatNumber(total) });
}
