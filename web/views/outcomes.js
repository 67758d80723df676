// How an answer can end before its end, as its reader is told.

import { t } from "../i18n.js";

export const ENDED_EARLY = {
  stopped: t("Stopped."),
  interrupted: t("This answer was interrupted."),
  failed: t("This answer failed."),
};
