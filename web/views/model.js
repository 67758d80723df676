// Your account → Model: which language model answers. Set by the person at the machine, with the local key.

import { attempting, find, onSubmit, say } from "../dom.js";
import { json } from "../http.js";
import { t } from "../i18n.js";
import { loadKey } from "../local_key.js";
import { loadConfig } from "../session.js";

const PATH = "/local/model";
const ADDRESSES = { openai: "https://api.openai.com/v1", compatible: "", ollama: "http://127.0.0.1:11434/v1" };
const ELSEWHERE = t("The model is set by those who run this server.");

export function startModel() {
  const view = find("#model");
  const form = find("form", view);
  const state = find(".state", view);
  const { kind, address, key, name, small } = form.elements;
  const attempt = attempting(find(".problem", view));
  const call = (method, path, body) => json(method, path, { body, headers: { "X-Local-Key": loadKey() } });
  const server = () => ({ base_url: address.value, api_key: key.value });

  const load = () => attempt(async () => {
    const isHere = (await loadConfig()).sign_in === "key" && Boolean(loadKey());
    if (isHere) return show(await call("GET", PATH));
    form.hidden = true;
    state.textContent = ELSEWHERE;
  });

  function show({ source, kind: current = "offline", base_url: url, model, small_model: smallModel, search }) {
    form.hidden = source === "environment";
    state.textContent = {
      environment: t("{model} at {url}, set by OPENAI_API_KEY in the environment of the server. It is changed there.", { model, url }),
      console: t("{model} at {url} answers.", { model, url }),
      offline: t("The offline model answers: it quotes your conversations."),
    }[source];
    find(".search", view).textContent = {
      words: t("Search compares words. The key of the model is not used for it."),
      local: t("Search compares meanings, by a small model on this machine. The key of the model is not used for it."),
      openai: t("Search compares meanings at OpenAI, with the key in the environment of the server."),
    }[search];
    [kind.value, address.value, name.value, small.value, key.value] = [current, url ?? "", model ?? "", smallModel ?? "", ""];
    fit();
  }

  function fit() {
    find(".server", form).hidden = kind.value === "offline";
    find(".address", form).hidden = kind.value === "openai";
  }

  kind.addEventListener("change", () => {
    [address.value, name.value, small.value] = [ADDRESSES[kind.value] ?? "", "", ""];
    fit();
    if (kind.value === "ollama") listModels();
  });
  address.addEventListener("change", () => address.value && listModels());
  find(".names", form).addEventListener("click", () => listModels());

  // The names go into the list to choose from; the first is chosen where nothing else is.
  const listModels = () => attempt(async () => {
    const asked = address.value;
    const { models } = await call("POST", `${PATH}/names`, server());
    if (address.value !== asked) return;
    find("datalist", form).replaceChildren(...models.map((model) => new Option(model, model)));
    if (kind.value === "ollama") name.value ||= models[0] ?? "";
    say(state, t("This server has: {models}", { models: models.join(", ") }));
  });

  onSubmit(form, () => attempt(async () => {
    state.textContent = t("Testing…");
    const body = { ...server(), kind: kind.value, model: name.value, small_model: small.value };
    try {
      show(await (kind.value === "offline" ? call("DELETE", PATH) : call("PUT", PATH, body)));
    } catch (problem) {
      state.textContent = "";
      throw problem;
    }
  }));
  return { reload: load };
}
