"""Live sound: how long words take to a stream, fifty streams in one process, and an hour of a phone's files.

Latency needs espeak-ng, which speaks, and the packages of local speech; without them it is not measured.
"""

import asyncio
import json
import shutil
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median, quantiles

from functions.media.live.application import build_application
from infra.bench.figures import Figure
from infra.bench.processes import ROOT, open_folder
from infra.model_server.errors import CannotServeModel
from infra.speech.install import LocalSpeech, install_speech
from shared.adapters.embedded.local_transcriber import LocalTranscriber
from shared.adapters.system_clock import SystemClock
from shared.adapters.windowed_transcriber import WindowedTranscriber
from shared.domain.conversations.speech import SAMPLE_RATE, Hearing, Transcription, Voice
from shared.library.sound import Sound
from shared.ports import LiveHearing
from shared.settings import Settings
from tests.fakes import ScriptedModel, ScriptedTranscriber
from tests.fixtures.devices import FRAME, FRAME_S, Device, build_device, build_listen_deps
from tests.fixtures.processing import ProcessingFixture, build_processing_fixture
from tests.fixtures.sounds import build_tone
from tests.fixtures.storage import MemoryDatabase

STORY = (
    "Good morning everybody. Today we talk about the offsite in Lisbon, which moves to Friday. Peter asked whether the "
    "train is cheaper than the plane. It takes nine hours, so most of us will fly. The dentist called and moved my "
    "appointment to Thursday. Please remember to bring the insurance card. After lunch we look at the new kitchen."
)
MAX_WORDS_S = 2.5
SAMPLED_EVERY_S = 0.25
STREAMS, STREAM_S = 50, 13
MAX_FRAME_MS, MAX_STREAM_MB = 100, 2
MAX_HOUR_MB = 200
_LATENCIES = ("shown: p50", "shown: p95", "final: p50", "final: p95")


def measure_live() -> list[Figure]:
    return [
        *asyncio.run(_measure_latency()),
        *asyncio.run(_measure_streams()),
        _measure_hour(),
    ]


@dataclass
class _TimedTranscriber:
    """Hears as another does; `decodes_s` is how long each sound took that was no draft."""

    heard_by: LocalTranscriber
    decodes_s: list[float] = field(default_factory=list)
    name: str = "local"
    is_ready: bool = True
    tells_speakers: bool = False

    async def transcribe(
        self,
        sound: bytes,
        *,
        language: str | None = None,
        voices: Sequence[Voice] = (),
        hint: str = "",
        is_draft: bool = False,
    ) -> Transcription:
        began = time.monotonic()
        heard = await self.heard_by.transcribe(
            sound, language=language, voices=voices, hint=hint, is_draft=is_draft
        )
        if not is_draft:
            self.decodes_s.append(time.monotonic() - began)
        return heard


async def _measure_latency() -> list[Figure]:
    """Play speech as fast as it is spoken; measure words in seconds, and in decodes of the same run."""
    voice = shutil.which("espeak-ng")
    try:
        speech = install_speech(Settings.from_env({})) if voice else None
    except CannotServeModel:
        speech = None
    if voice is None or speech is None:
        return [Figure(f"live words: {name}", None, "s") for name in _LATENCIES]
    with open_folder() as folder:
        samples = _speak(voice, folder / "story.wav")
    began_cpu_s = _measure_children_s()
    async with aclosing(_build_local(speech)) as local:
        transcriber = _TimedTranscriber(local)
        live = WindowedTranscriber(transcriber, SystemClock(), shows_guesses=True)
        async with live.open(language="en") as hearing:
            came = await play(hearing, samples)
    shown, final = (list_latencies(came, is_final=is_final) for is_final in (False, True))
    decode_s = median(transcriber.decodes_s)
    values = [
        value for each in (shown, final) for value in (median(each), quantiles(each, n=20)[-1])
    ]
    share = (_measure_children_s() - began_cpu_s) / (len(samples) / (2 * SAMPLE_RATE))
    figures = [
        Figure("live words: a decode", decode_s, "s"),
        Figure("live words: time of a processor for a second of sound", share, "s"),
    ]
    for name, value in zip(_LATENCIES, values, strict=True):
        target = MAX_WORDS_S if name == "shown: p50" else None
        figures.append(Figure(f"live words: {name}", value, "s", target=target))
        figures.append(Figure(f"live words: {name}", value / decode_s, "decodes"))
    return figures


def _measure_children_s() -> float:
    """Return the processor's time of the programs that this process started, and that have ended."""
    usage = getrusage(RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _build_local(speech: LocalSpeech) -> LocalTranscriber:
    program = "shared.adapters.embedded.whisper_program"
    return LocalTranscriber(
        "whisper", [sys.executable, "-m", program, str(speech.packages), str(speech.model)]
    )


def _speak(voice: str, file: Path) -> bytes:
    subprocess.run([voice, "-v", "en", "-s", "140", "-w", file, STORY], check=True)
    with file.open("rb") as content:
        return b"".join(piece.samples for piece in Sound(content).iterate_pieces())


async def play(hearing: LiveHearing, samples: bytes) -> list[tuple[float, Hearing]]:
    """Return what was heard, and how many seconds after the first sound it came."""
    began, came = time.monotonic(), list[tuple[float, Hearing]]()

    async def listen() -> None:
        async for heard in hearing.iterate():
            came.append((time.monotonic() - began, heard))

    step = len(FRAME)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(listen())
        for number, start in enumerate(range(0, len(samples), step), 1):
            await asyncio.sleep(max(began + number * FRAME_S - time.monotonic(), 0))
            await hearing.hear(samples[start : start + step])
        await hearing.end()
    return came


def list_latencies(came: Sequence[tuple[float, Hearing]], *, is_final: bool) -> list[float]:
    """Return for moments with words how long it took until they were told, as final or at all."""
    told = [
        (at, each.start, each.end)
        for at, heard in came
        for each in heard.utterances
        if heard.is_final or not is_final
    ]
    latencies = []
    for number in range(round(max(end for _, _, end in told) / SAMPLED_EVERY_S)):
        moment = number * SAMPLED_EVERY_S
        times = [at for at, start, end in told if start <= moment <= end and at >= moment]
        latencies += [min(times) - moment] if times else []
    return latencies


async def _measure_streams() -> list[Figure]:
    """Serve streams in this process, whose sound a script hears: the time of each frame, then memory by itself."""
    times_ms, _ = await _play_streams(STREAMS)
    tracemalloc.start()
    try:
        await _play_streams(STREAMS)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    name = f"{STREAMS} live streams"
    return [
        Figure(f"{name}: a frame, p50", median(times_ms), "ms"),
        Figure(f"{name}: a frame, longest", max(times_ms), "ms", target=MAX_FRAME_MS),
        Figure(f"{name}: memory of one", peak / STREAMS / 1e6, "MB", target=MAX_STREAM_MB),
    ]


async def _play_streams(count: int) -> tuple[list[float], list[Device]]:
    world = build_processing_fixture(MemoryDatabase(), ScriptedModel())
    script = [[("A", 0, 1, "On and on.")] for _ in range(20 * count)]
    transcriber = WindowedTranscriber(ScriptedTranscriber(script), world.clock, shows_guesses=False)
    app = build_application(build_listen_deps(world, transcriber))
    devices = [build_device(app, world, uid=f"u{n}") for n in range(count)]
    for device in devices:
        await device.connect()
    times_ms = await _send_frames(world, devices)
    for device in devices:
        await device.leave()
    return times_ms, devices


async def _send_frames(world: ProcessingFixture, devices: Sequence[Device]) -> list[float]:
    """Send each device's frames in turn; return how many milliseconds each took."""
    frame = build_tone(1)[44:][: 2 * round(FRAME_S * SAMPLE_RATE)]
    times_ms = []
    for _ in range(round(STREAM_S / FRAME_S)):
        world.clock.advance(seconds=FRAME_S)
        for device in devices:
            began = time.perf_counter()
            await device.send(frame)
            times_ms.append(1_000 * (time.perf_counter() - began))
    return times_ms


def _measure_hour() -> Figure:
    with open_folder() as folder:
        program = "tests.functions.media.sound.hour_of_a_phone"
        printed = subprocess.run(
            [sys.executable, "-m", program, folder], check=True, capture_output=True, cwd=ROOT
        ).stdout
    peaks = json.loads(printed)
    added_mb = max(peaks["taken"], peaks["heard"]) - peaks["before"]
    return Figure("sync-local-files, an hour: memory", added_mb, "MB", target=MAX_HOUR_MB)
