"""Whisper's program: hears sounds from its standard input, in a process of low priority and bounded memory.

A sound is a line of JSON, `{"size_bytes": n, "language": "de" or null, "hint": "Zoë, Porto", "is_draft": false}`, and a WAV of that
size behind it; the answer is a line of JSON. The process ends with its input, and once no sound came for a while.
"""

import json
import os
import resource
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, BinaryIO

from shared.domain.value import value

IDLE_S = 60.0
"""After so long without a sound it gives its memory back; loading the model again takes a second or two."""
SPARE_BYTES = 2**30
"""What hearing takes beside the weights, which stand in memory twice while they are loaded."""
WAV_HEADER_BYTES = 44
_NICENESS = 10
_DRAFT_FRAMES, _MAX_DRAFT_SOUND = 1_500, 1_300
"""Of 10 ms. Whisper pads each sound to 3,000 and encodes those; half of them take a quarter of the time, hold the longest
window of live sound with silence behind it, and cost some words."""
_WHOLE = {
    "beam_size": 5,
    "temperature": (0.0, 0.4),  # where a reading repeats itself or is unlikely, one more
    "word_timestamps": True,
    "hallucination_silence_threshold": 2.0,  # seconds of silence around a word that is unlikely: it is passed over
}
_DRAFT = {"beam_size": 1, "temperature": 0.0}


@value
class HandedSound:
    """A WAV, its language where it is known, words that may be said in it, and whether speed counts more than words."""

    wav: bytes
    language: str | None
    hint: str = ""
    is_draft: bool = False


def main(packages: str, model: str) -> None:
    """Answer sound after sound with the model of a folder."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C is for the server, which then closes our input
    os.nice(_NICENESS)
    bound_memory(2 * (Path(model) / "model.bin").stat().st_size + SPARE_BYTES)
    sys.path.append(packages)
    whisper = load_whisper(model)
    for sound in iterate_sounds(sys.stdin.buffer):
        sys.stdout.write(json.dumps(hear(whisper, sound)) + "\n")
        sys.stdout.flush()


def bound_memory(most_bytes: int) -> None:
    """Bound what this process may fill: beyond, it ends, and the machine goes on."""
    _, most_allowed = resource.getrlimit(resource.RLIMIT_DATA)
    if most_allowed == resource.RLIM_INFINITY or most_bytes < most_allowed:
        resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, most_allowed))


def load_whisper(model: str) -> Any:
    from faster_whisper import WhisperModel

    threads = os.cpu_count() or 1
    return WhisperModel(
        model, device="cpu", compute_type="int8", cpu_threads=threads, local_files_only=True
    )


def iterate_sounds(stream: BinaryIO) -> Iterator[HandedSound]:
    """Yield sounds until none came for IDLE_S. The end of the stream ends the process, in the midst of a sound too."""
    sounds = SimpleQueue[HandedSound]()
    threading.Thread(target=_read_sounds, args=(stream, sounds), daemon=True).start()
    while True:
        try:
            yield sounds.get(timeout=IDLE_S)
        except Empty:
            return


def _read_sounds(stream: BinaryIO, sounds: "SimpleQueue[HandedSound]") -> None:
    while line := stream.readline():
        header = json.loads(line)
        wav = stream.read(header["size_bytes"])
        del header["size_bytes"]
        sounds.put(HandedSound(wav=wav, **header))
    os._exit(0)


def hear(whisper: Any, sound: HandedSound) -> dict[str, Any]:
    """Return what Whisper hears in a sound, with its own doubts about it."""
    import numpy as np

    samples = (
        np.frombuffer(sound.wav[WAV_HEADER_BYTES:], dtype=np.int16).astype(np.float32) / 32_768
    )
    with shorten_padding(whisper) if sound.is_draft else nullcontext():
        segments, info = whisper.transcribe(
            samples,
            language=sound.language,
            hotwords=sound.hint or None,
            condition_on_previous_text=False,  # one mistake would be repeated to the end
            vad_filter=True,
            **(_DRAFT if sound.is_draft else _WHOLE),
        )
        return {"segments": [_to_json(each) for each in segments], "language": info.language}


@contextmanager
def shorten_padding(whisper: Any) -> Iterator[None]:
    """Encode less of the silence behind a sound, where it is short."""
    encode = whisper.encode

    def encode_short(features: Any) -> Any:  # (mels, frames), padded with zeros
        is_short = not features[..., _MAX_DRAFT_SOUND:].any()
        return encode(features[..., :_DRAFT_FRAMES] if is_short else features)

    whisper.encode = encode_short
    try:
        yield
    finally:
        whisper.encode = encode


def _to_json(segment: Any) -> dict[str, Any]:
    """A segment of a draft is one word: which of them was said when would take another pass."""
    whole = [(segment.text, segment.start, segment.end)]
    words = [(each.word, each.start, each.end) for each in segment.words or ()]
    return {
        "no_speech": segment.no_speech_prob,
        "log_probability": segment.avg_logprob,
        "compression": segment.compression_ratio,
        "words": [
            {"text": text, "start": float(start), "end": float(end)}
            for text, start, end in (whole if segment.words is None else words)
        ],
    }


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except BaseException:  # noqa: BLE001  whatever it was, the process ends without a usual end
        traceback.print_exc()
        os._exit(1)
    os._exit(0)  # a usual end would wait for the thread that waits for another sound
