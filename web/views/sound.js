// The kept sound of a conversation, to listen to.

import { el } from "../dom.js";
import { t } from "../i18n.js";

/** A place in the reader that offers to listen, once it is known that sound is kept; `attempt` shows problems. */
export function soundOf(api, id, attempt) {
  const place = el("div", { class: "sound" });

  async function offer() {
    const { keeps_audio: keepsAudio } = await api.profile();
    if (!keepsAudio) return;
    const { items: recordings } = await api.recordings(id);
    const kept = recordings.filter(({ has_audio: hasAudio }) => hasAudio);
    const isOnly = kept.length === 1 && recordings.length === 1;
    place.append(...kept.map((recording) => offerOne(recording, isOnly)));
  }

  // A merged conversation may have several, whose times are not those of the lines.
  function offerOne(recording, isOnly) {
    const name = isOnly ? "" : recording.name;
    const button = el("button", { type: "button", onclick: () => attempt(() => listen(recording, button, isOnly)) }, name ? t("Listen: {name}", { name }) : t("Listen"));
    return button;
  }

  async function listen(recording, button, isOnly) {
    const address = URL.createObjectURL(await api.sound(id, recording.id));
    const player = el("audio", { controls: true, src: address, "aria-label": t("Sound of this conversation") });
    button.replaceWith(player);
    if (isOnly) for (const time of place.parentElement.querySelectorAll(".transcript time")) playFrom(time, player);
    player.focus();
    await player.play();
  }

  function playFrom(time, player) {
    const play = () => {
      player.currentTime = parseFloat(time.dateTime);
      player.play();
    };
    const button = el("button", { type: "button", class: "name", title: t("Listen from here"), onclick: play });
    time.replaceWith(button);
    button.append(time);
  }

  offer().catch(() => {});
  return place;
}
