// The kept sound of a conversation, to listen to.

import { el } from "../dom.js";
import { t } from "../i18n.js";

/** A place in the reader that offers to listen, once it is known that sound is kept; `attempt` shows problems. */
export function soundOf(api, id, attempt) {
  const place = el("div", { class: "sound" });

  async function offer() {
    const { keeps_audio: keepsAudio } = await api.profile();
    if (!keepsAudio) return;
    const { items } = await api.recordings(id);
    const kept = items.filter(({ has_audio: hasAudio }) => hasAudio);
    place.append(...kept.map((recording) => offerOne(recording, kept.length > 1 ? recording.name : "")));
  }

  // A merged conversation may have several.
  function offerOne(recording, name) {
    const button = el("button", { type: "button", onclick: () => attempt(() => listen(recording, button)) }, name ? t("Listen: {name}", { name }) : t("Listen"));
    return button;
  }

  async function listen(recording, button) {
    const address = URL.createObjectURL(await api.sound(id, recording.id));
    const player = el("audio", { controls: true, src: address, "aria-label": t("Sound of this conversation") });
    button.replaceWith(player);
    player.focus();
    await player.play();
  }

  offer().catch(() => {});
  return place;
}
