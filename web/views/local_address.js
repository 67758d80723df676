// The question whether an app may run on this machine.

import { t } from "../i18n.js";

/** Sends a registration; where the server asks whether it may call this machine, asks, and sends it again with the leave. */
export async function askingForLocal(send) {
  try {
    return await send({});
  } catch (problem) {
    if (problem.code !== "local_address" || !(await mayCall(problem.origins))) throw problem;
    return send({ allow_local: true });
  }
}

async function mayCall(origins) {
  const { ask } = await import("./asking.js");
  return ask(t("This app runs on the machine of the server, at {addresses}. May Keepsake call it there?", { addresses: origins.join(", ") }), [["yes", t("Allow")]]);
}
