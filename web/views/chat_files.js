// Files of the next question: handed in with progress, read by the server, and taken along when it is asked.

import { el, find, iconButton } from "../dom.js";
import { t, tn } from "../i18n.js";
import { upload } from "../uploads.js";
import { faceOf } from "./file_cards.js";

const MAX_FILES = 10;
const POLL_MS = 700;

/** Follows the files above the question; `tell(problem)` shows what went wrong. */
export function startChatFiles({ api, tell }) {
  const list = find("#attached");
  const rows = new Map(); // the row of each file to the file as it was read, null until then

  function add(files) {
    tell("");
    const room = MAX_FILES - rows.size;
    if (files.length > room) tell(tn({ one: "A question takes {n} file.", other: "A question takes {n} files." }, MAX_FILES));
    for (const file of [...files].slice(0, room)) handIn(file);
  }

  async function handIn(file) {
    const aborter = new AbortController();
    const bar = el("progress", { max: file.size, value: 0, "aria-label": t("Sending {file}", { file: file.name }) });
    const row = place([el("bdi", {}, file.name), bar], file.name, () => aborter.abort());
    try {
      const read = await waitUntilRead(await send(file, bar, aborter.signal), aborter.signal);
      if (aborter.signal.aborted) return await api.deleteFile(read.id);
      if (read.status === "rejected") throw new Error(`${file.name}: ${read.reason}`);
      show(row, read);
    } catch (problem) {
      if (aborter.signal.aborted) return;
      forget(row);
      tell(problem);
    }
  }

  // The upload ends with the first part after the row was removed.
  async function send(file, bar, signal) {
    const id = await upload(api, file, (sent) => {
      signal.throwIfAborted();
      bar.value = sent;
    });
    bar.removeAttribute("value");
    bar.setAttribute("aria-label", t("Reading {file}", { file: file.name }));
    const [handed] = await api.addFiles([id]);
    return handed;
  }

  async function waitUntilRead(file, signal) {
    let read = file;
    while (read.status === "processing" && !signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      read = await api.file(file.id);
    }
    return read;
  }

  function place(face, name, onRemove) {
    const row = el("li", {}, ...face, iconButton("close", t("Remove {file}", { file: name }), () => {
      onRemove();
      forget(row);
      find("#question").focus();
    }));
    rows.set(row, null);
    list.append(row);
    list.hidden = false;
    return row;
  }

  function show(row, file) {
    rows.set(row, file);
    row.replaceChildren(...faceOf(file), row.lastElementChild);
  }

  function forget(row) {
    rows.delete(row);
    row.remove();
    list.hidden = !rows.size;
  }

  return {
    add,
    isBusy: () => [...rows.values()].includes(null),
    /** Returns the files that were read, and shows none any more. */
    take() {
      const taken = [...rows.values()];
      [...rows.keys()].forEach(forget);
      return taken;
    },
    /** Shows files again that a question was to take along. */
    restore: (files) => files.forEach((file) => show(place([], file.name, () => {}), file)),
  };
}
