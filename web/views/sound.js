// The kept sound of a conversation, to listen to as a whole and at each line.

import { el } from "../dom.js";
import { t } from "../i18n.js";

/** A place in the reader that offers to listen, once it is known that sound is kept; `attempt` shows problems. */
export function soundOf(api, { id, started_at: start }, attempt) {
  const place = el("div", { class: "sound" });

  async function offer() {
    const { keeps_audio: keepsAudio } = await api.profile();
    if (!keepsAudio) return;
    const { items } = await api.recordings(id);
    const kept = items.filter(({ has_audio: hasAudio }) => hasAudio).map((item) => build(item, items.length === 1));
    place.append(...kept.map(({ button }) => button));
    const latestFirst = kept.toSorted((one, other) => other.first - one.first); // they may overlap a little
    for (const time of place.parentElement.querySelectorAll(".transcript time")) {
      const at = parseFloat(time.dateTime);
      const sound = latestFirst.find(({ first, last }) => first <= at && at < last);
      if (sound) offerLine(time, () => sound.playFrom(at - sound.first));
    }
  }

  // What began at an unknown time is as long as the conversation if nothing else is in it.
  function build({ id: recording, name, started_at: startedAt, duration_s: duration }, isOnly) {
    const first = startedAt ? (new Date(startedAt) - new Date(start)) / 1000 : isOnly ? 0 : Infinity;
    const label = isOnly || !name ? t("Listen") : t("Listen: {name}", { name });
    const button = el("button", { type: "button", onclick: () => attempt(() => playFrom(0)) }, label);
    let player = null;

    async function playFrom(seconds) {
      player ??= load();
      const audio = await player.catch((error) => {
        player = null;
        throw error;
      });
      audio.currentTime = seconds;
      await audio.play();
    }

    async function load() {
      const address = URL.createObjectURL(await api.sound(id, recording));
      const audio = el("audio", { controls: true, src: address, "aria-label": t("Sound of this conversation") });
      button.replaceWith(audio);
      audio.focus();
      return audio;
    }

    return { button, first, last: first + (duration ?? Infinity), playFrom };
  }

  function offerLine(time, play) {
    const button = el("button", { type: "button", class: "name", title: t("Listen from here"), onclick: () => attempt(play) });
    time.replaceWith(button);
    button.append(time);
  }

  offer().catch(() => {});
  return place;
}
