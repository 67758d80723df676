// Feedback on an answer: thumbs and a report.

import { iconButton } from "../dom.js";
import { t } from "../i18n.js";

/** The buttons for one stored answer; `attempt` runs a call and shows its error. */
export function feedback(api, message, attempt) {
  return [...thumbs(api, message, attempt), flag(api, message, attempt)];
}

// Pressing the chosen thumb again removes the rating.
function thumbs(api, { id, rating }, attempt) {
  let current = rating ?? 0;
  const rate = (value) => attempt(async () => {
    const next = value === current ? 0 : value;
    await api.rate(id, next);
    show(next);
  });
  const up = iconButton("up", t("Good answer"), () => rate(1));
  const down = iconButton("down", t("Bad answer"), () => rate(-1));
  const show = (value) => {
    current = value;
    up.setAttribute("aria-pressed", String(value === 1));
    down.setAttribute("aria-pressed", String(value === -1));
  };
  show(current);
  return [up, down];
}

function flag(api, { id, reported }, attempt) {
  const button = iconButton("flag", t("Report this answer"), () => attempt(async () => {
    await api.report(id);
    showReported();
  }));
  const showReported = () => {
    button.disabled = true;
    button.setAttribute("aria-pressed", "true");
    button.setAttribute("aria-label", t("Reported"));
    button.title = t("Reported");
  };
  if (reported) showReported();
  return button;
}
