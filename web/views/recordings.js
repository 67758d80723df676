// Recordings: speech from the microphone or a file, and how far each is on its way to text.

import { attempting, el, find, say } from "../dom.js";
import { t, tag } from "../i18n.js";
import { openMicrophone } from "../microphone.js";
import { upload } from "../uploads.js";
import { offset } from "../words.js";

const MAX_FORM_BYTES = 25_000_000; // more goes by uploads
const POLL_MS = 1000;
const SLOWEST_POLL_MS = 5000;
const SET_UP = t("Nothing is set up that turns speech into text: start Keepsake with make run SPEECH=local, which hears on this machine, or choose OpenAI as the model, or set OPENAI_API_KEY, or TRANSCRIPTION_BASE_URL for a server of your own.");

/** Follows recordings; `onDone(id)` is called with each conversation that one became. */
export function startRecordings({ api, onDone }) {
  const node = find("#recordings");
  const list = find("ul", node);
  const button = find(".record", node);
  const status = find("[role=status]", node);
  const elapsed = find(".elapsed", node);
  const problem = find(".problem", node);
  const attempt = attempting(problem);
  let recording = null;

  async function load() {
    const { items, can_transcribe: canTranscribe, tells_speakers: tellsSpeakers } = await api.recordings();
    find(".one-speaker", node).hidden = tellsSpeakers || !canTranscribe;
    for (const item of items.filter(isOpen)) place(item);
  }

  function place(item, before = null) {
    const row = el("li", {}, ...contents(item));
    if (before) before.replaceWith(row);
    else list.prepend(row);
    if (item.status === "transcribing") watch(item.id, row);
    if (item.status === "done") finished(item, row); // the same sound was sent before
  }

  // Asks more and more slowly, also while the connection is down; null: it was deleted.
  function watch(id, row, wait = POLL_MS) {
    setTimeout(async () => {
      const item = await api.recording(id).catch(({ status: code }) => (code === 404 ? null : { status: "unknown" }));
      if (!row.isConnected) return;
      if (item?.status === "transcribing") row.replaceChildren(...contents(item));
      if (["transcribing", "unknown"].includes(item?.status)) return watch(id, row, Math.min(wait * 1.2, SLOWEST_POLL_MS));
      if (item?.status === "failed") return place(item, row);
      if (item?.status === "done") finished(item, row);
      else row.remove(); // it was deleted, or nobody speaks in what a device sent
    }, wait);
  }

  function finished(item, row) {
    row.remove();
    status.textContent = t("The recording is text now.");
    onDone(item.conversation_id);
  }

  const contents = (item) => [
    el("span", { class: "title", dir: "auto" }, item.name || t("Recording")),
    item.failure ? el("span", { class: "state failed", lang: "en" }, item.failure.detail) : progress(item),
    item.failure?.can_retry && el("button", { type: "button", onclick: (event) => retry(item, event) }, t("Try again")),
    el("button", { type: "button", class: "quiet", onclick: (event) => remove(item, event) }, t("Delete")),
  ].filter(Boolean);

  const retry = (item, { target }) => attempt(async () => place(await api.retryRecording(item.id), target.closest("li")));

  const remove = (item, { target }) => attempt(async () => {
    await api.deleteRecording(item.id);
    target.closest("li").remove();
    button.focus();
  });

  // What could not be sent stays in the page, to be sent again or saved.
  async function send(file, notes) {
    const row = el("li", {}, el("span", { class: "title", dir: "auto" }, file.name), el("span", { class: "state busy" }, t("Sending")));
    list.prepend(row);
    try {
      say(problem, "");
      place(await hand(file, notes, (sent) => find(".state", row).replaceChildren(t("Sending {percent} %", { percent: Math.round(100 * sent / file.size) }))), row);
    } catch (error) {
      say(problem, error);
      const address = URL.createObjectURL(file);
      row.replaceChildren(
        el("span", { class: "title", dir: "auto" }, file.name),
        el("span", { class: "state failed" }, t("Not sent")),
        el("button", { type: "button", onclick: () => { row.remove(); send(file, notes); } }, t("Send again")),
        el("a", { href: address, download: file.name }, t("Save")),
        el("button", { type: "button", class: "quiet", onclick: () => { URL.revokeObjectURL(address); row.remove(); } }, t("Discard")));
    }
  }

  async function hand(file, notes, onProgress) {
    if (file.size > MAX_FORM_BYTES) return api.addRecording({ ...notes, upload: await upload(api, file, onProgress) });
    const form = new FormData();
    form.append("recording", JSON.stringify(notes));
    form.append("file", file, file.name);
    return api.sendRecording(form);
  }

  async function begin() {
    const { can_transcribe: canTranscribe } = await api.recordings();
    if (!canTranscribe) return say(problem, SET_UP);
    recording = capture(await openMicrophone(), (seconds) => (elapsed.textContent = offset(seconds)));
    button.textContent = t("Stop and keep");
    status.textContent = t("Recording…");
    elapsed.hidden = false;
    return null;
  }

  async function finish() {
    const { file, startedAt } = await recording.stop();
    recording = null;
    button.textContent = t("Record");
    status.textContent = "";
    elapsed.hidden = true;
    await send(file, { started_at: startedAt.toISOString(), is_own_voice: true });
  }

  button.addEventListener("click", async () => {
    button.disabled = true;
    say(problem, "");
    await attempt(recording ? finish : begin);
    button.disabled = false;
    button.focus();
  });
  find("input", node).addEventListener("change", async ({ target }) => {
    const [file] = target.files;
    if (file) await send(file, {});
    target.value = "";
  });
  addEventListener("beforeunload", (event) => recording && event.preventDefault());
  attempt(load);
}

const isOpen = ({ status }) => ["transcribing", "failed"].includes(status);

function progress({ duration_s: duration, transcribed_s: done }) {
  const share = duration ? Math.round(100 * done / duration) : null;
  return el("span", { class: "state busy" }, share ? t("Turning speech into text: {percent} %", { percent: share }) : t("Turning speech into text"));
}

/**
 * Records from the microphone; `stop()` returns the sound as a file, and when it began.
 * `onTick(seconds)` is called about once a second.
 */
function capture(stream, onTick) {
  const recorder = new MediaRecorder(stream);
  const pieces = [];
  const startedAt = new Date();
  recorder.addEventListener("dataavailable", ({ data }) => {
    pieces.push(data);
    onTick((new Date() - startedAt) / 1000);
  });
  recorder.start(1000);
  const stop = () => new Promise((resolve) => {
    recorder.addEventListener("stop", () => {
      for (const track of stream.getTracks()) track.stop();
      const type = recorder.mimeType.split(";")[0];
      const time = startedAt.toLocaleString(tag, { dateStyle: "medium", timeStyle: "short" });
      const name = `${t("Recording of {time}", { time })}.${type.split("/")[1]}`.replaceAll(/[/:]/g, ".");
      resolve({ file: new File(pieces, name, { type }), startedAt });
    });
    recorder.stop();
  });
  return { stop };
}
