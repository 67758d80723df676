// Models for the next question: one, or up to three that answer side by side.

import { el, find } from "../dom.js";
import { t } from "../i18n.js";

/** Offers a choice beside the question where there is more than one model; `chosen()` is what a question names. */
export function startModelChoice({ api }) {
  const place = find("#models");
  let boxes = [];
  let known = [];

  const chosenIds = () => boxes.filter(({ checked }) => checked).map(({ value }) => value);

  function show(models) {
    boxes = models.map(({ id }, at) => el("input", { type: "checkbox", value: id, checked: at === 0, onchange: name }));
    const choices = models.map((model, at) => el("label", { class: "check" }, boxes[at], el("bdi", {}, model.name)));
    const summary = el("summary");
    place.replaceChildren(el("details", {}, summary,
      el("fieldset", {}, el("legend", {}, t("Who answers the next question; several answer side by side")), ...choices)));
    place.hidden = false;
    name();

    function name() {
      const names = models.filter(({ id }) => chosenIds().includes(id)).map((model) => model.name);
      const [first] = models;
      summary.replaceChildren(t("Models"), ": ", el("bdi", {}, names.join(" · ") || first.name));
    }
  }

  // What was chosen for the next question stays, unless another model is the usual one now.
  function showUsualFirst({ preferred_model: preferred }) {
    const usual = known.find(({ id }) => id === preferred) ?? known[0];
    if (known.length > 1 && boxes[0]?.value !== usual.id) show([usual, ...known.filter((model) => model !== usual)]);
  }

  // Without the list, the model of the chat answers.
  Promise.all([api.chatModels(), api.profile()]).then(([{ models }, profile]) => {
    known = models;
    showUsualFirst(profile);
  }, () => {});
  api.onProfile(showUsualFirst);

  function chosen() {
    const ids = chosenIds();
    if (ids.length > 1) return { models: ids };
    return boxes[0]?.checked || !ids.length ? {} : { model: ids[0] };
  }

  return { chosen };
}
