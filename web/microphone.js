// The microphone, with every refusal in words.

import { t } from "./i18n.js";

const REFUSALS = {
  NotAllowedError: t("The browser may not use the microphone. Allow it for this page, then try again."),
  NotFoundError: t("No microphone was found. Connect one, then try again."),
  NotReadableError: t("Another program uses the microphone. Close it, then try again."),
};

/** Returns the sound of the microphone as a stream. Throws an error whose message is for people. */
export async function openMicrophone() {
  if (!navigator.mediaDevices) throw new Error(t("This page may not record: open it by https, or on the computer that runs it."));
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: true });
  } catch ({ name, message }) {
    throw new Error(REFUSALS[name] ?? message);
  }
}
