// Your account → Model: which language model answers. Set by the person at the machine, with the local key.

import { attempting, el, find, onSubmit, say } from "../dom.js";
import { json } from "../http.js";
import { formatNumber, t, tn } from "../i18n.js";
import { loadKey } from "../local_key.js";
import { loadConfig } from "../session.js";
import { moment, offset } from "../words.js";
import { describeSearch, loadSearch } from "./meanings.js";

const PATH = "/local/model";
const ADDRESSES = { openai: "https://api.openai.com/v1", compatible: "", ollama: "http://127.0.0.1:11434/v1" };
const ELSEWHERE = t("The model is set by those who run this server.");
const SECOND_MS = 1000;

export function startModel({ api }) {
  const view = find("#model");
  const form = find("form", view);
  const state = find(".state", view);
  const testing = find(".testing", form);
  const { kind, address, key, name, small } = form.elements;
  const attempt = attempting(find(".problem", view));
  const call = (method, path, body, signal) =>
    json(method, path, { body, signal, headers: { "X-Local-Key": loadKey() } });
  const server = () => ({ base_url: address.value, api_key: key.value });

  const load = () => Promise.all([attempt(loadModel), showSearch()]);

  const showSearch = async () => { find(".search", view).textContent = describeSearch(await loadSearch(api)); };

  async function loadModel() {
    const isHere = (await loadConfig()).sign_in === "key" && Boolean(loadKey());
    if (isHere) return show(await call("GET", PATH));
    form.hidden = true;
    state.textContent = ELSEWHERE;
  }

  function show({ source, kind: current = "offline", base_url: url, model, small_model: smallModel, ...found }) {
    form.hidden = source === "environment";
    state.textContent = {
      environment: t("{model} at {url}, set by OPENAI_API_KEY in the environment of the server. It is changed there.", { model, url }),
      console: t("{model} at {url} answers.", { model, url }),
      offline: t("The offline model answers: it quotes your conversations."),
    }[source];
    showFacts(find(".facts", view), found.facts);
    showNotes(find(".notes", view), found);
    [kind.value, address.value, name.value, small.value, key.value] = [current, url ?? "", model ?? "", smallModel ?? "", ""];
    fit();
  }

  function fit() {
    find(".server", form).hidden = kind.value === "offline";
    find(".base-url", form).hidden = kind.value === "openai";
  }

  kind.addEventListener("change", () => {
    [address.value, name.value, small.value] = [ADDRESSES[kind.value] ?? "", "", ""];
    fit();
    if (kind.value === "ollama") listModels();
  });
  address.addEventListener("change", () => address.value && listModels());
  find(".names", form).addEventListener("click", () => listModels());

  // The names go into the list to choose from; the first is chosen where nothing else is. A test ends the request: its
  // own result is what is to be read.
  let listing = new AbortController();
  const listModels = () => attempt(async () => {
    listing.abort();
    listing = new AbortController();
    const { signal } = listing;
    const asked = address.value;
    try {
      const { models } = await call("POST", `${PATH}/names`, server(), signal);
      if (address.value !== asked) return;
      find("datalist", form).replaceChildren(...models.map((model) => new Option(model, model)));
      if (kind.value === "ollama") name.value ||= models[0] ?? "";
      say(state, t("This server has: {models}", { models: models.join(", ") }));
    } catch (problem) {
      if (!signal.aborted) throw problem;
    }
  });

  onSubmit(form, () => attempt(async () => {
    listing.abort();
    if (kind.value === "offline") return show(await call("DELETE", PATH));
    const aborter = new AbortController();
    const stop = startTest(aborter);
    const body = { ...server(), kind: kind.value, model: name.value, small_model: small.value };
    try {
      show(await call("PUT", PATH, body, aborter.signal));
    } catch (problem) {
      if (!aborter.signal.aborted) throw problem;
      state.textContent = t("Cancelled. Nothing was changed.");
    } finally {
      stop();
      view.scrollIntoView({ block: "start" });
    }
  }));

  // The running time says that something happens; a screen reader hears the beginning and the end alone.
  function startTest(aborter) {
    const began = Date.now();
    const tick = () => { find(".elapsed", testing).textContent = offset((Date.now() - began) / SECOND_MS); };
    testing.hidden = false;
    find("[role=status]", testing).textContent = t("Testing… A model on your own machine may take some minutes.");
    find(".cancel", testing).onclick = () => aborter.abort();
    tick();
    const timer = setInterval(tick, SECOND_MS);
    return () => {
      clearInterval(timer);
      testing.hidden = true;
    };
  }

  return { reload: load };
}

function showFacts(list, facts) {
  const rows = facts ? describeFacts(facts) : [];
  list.hidden = !rows.length;
  list.replaceChildren(...rows.flatMap(([term, text]) => [el("dt", {}, term), el("dd", {}, text)]));
}

function describeFacts({ window_tokens: tokens, window_source: source, places, takes_tools: takesTools }) {
  const n = formatNumber(tokens);
  const window = {
    setting: t("{n} tokens at once, set by MODEL_AGENT_WINDOW", { n }),
    server: t("{n} tokens at once, as its server says", { n }),
    refusal: t("{n} tokens at once, as its server said when it refused more", { n }),
    name: t("{n} tokens at once, known by its name", { n }),
    assumed: t("{n} tokens at once, assumed: its server does not say", { n }),
  }[source];
  const answers = places && tn({ one: "{n} question at a time", other: "{n} questions at a time" }, places);
  const tools = takesTools === false ? t("None: it cannot search or use apps by itself") : takesTools && t("Yes");
  return [[t("It reads"), window], [t("It answers"), answers], [t("Tools"), tools]].filter(([, text]) => text);
}

function showNotes(view, { notes = [], tested_at: testedAt }) {
  const when = testedAt && moment(testedAt);
  const head = find("p", view);
  view.hidden = !(notes.length || when);
  head.textContent = notes.length
    ? [when && t("Tested on {when}.", { when }), t("To know of it:")].filter(Boolean).join(" ")
    : when && t("Tested on {when}. Nothing is odd.", { when });
  find("ul", view).replaceChildren(...notes.map((note) => el("li", {}, note)));
}
