"""Measurement of live sound: a device is heard for minutes of its own clock, and what its stream asks is counted."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from functions.media.live.application import build_application
from infra.scale.work import Work
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.metered_documents import MeteredDocuments
from shared.adapters.voice_windows import MAX_WINDOW_S
from shared.adapters.windowed_transcriber import WindowedTranscriber
from shared.library.sound import WAV_HEADER_BYTES
from tests.fakes import MemoryBlobs, ScriptedModel, ScriptedTranscriber
from tests.fixtures.devices import build_device, build_listen_deps
from tests.fixtures.processing import build_processing_fixture
from tests.fixtures.sounds import build_tone
from tests.fixtures.storage import INDEXES, MemoryDatabase

CYCLES = 20
TURNS_S = (4, 4, 4, 12)
"""How long is spoken without a pause; a second of silence follows. The long one waits to be heard for so long that it is stored."""
WINDOWS = 200
"""More than so much speech is cut into."""


@dataclass
class _CountedBlobs(MemoryBlobs):
    written: int = 0

    async def write(self, path: str, content: bytes, *, media_type: str) -> None:
        self.written += 1
        await super().write(path, content, media_type=media_type)


class _Lines(logging.Handler):
    """Keeps the lines of requests while it is open."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.facts: list[Mapping[str, int]] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage() == "request":
            self.facts.append(getattr(record, "facts", {}))

    def __enter__(self) -> Self:
        log = logging.getLogger("keepsake")
        log.addHandler(self)
        log.setLevel(logging.INFO)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("keepsake").removeHandler(self)


async def measure_live() -> Work:
    """Count a minute of speech. What follows the end of its conversation is the work of a conversation."""
    documents = MeteredDocuments(SqliteDocuments(MemoryDatabase(), INDEXES))
    world = build_processing_fixture(
        MemoryDatabase(), ScriptedModel(), external_documents=documents
    )
    heard = [("A", 0.0, MAX_WINDOW_S, "Where do we meet, and who brings the plans?")]
    transcriber = WindowedTranscriber(
        ScriptedTranscriber([heard] * WINDOWS), world.clock, shows_guesses=False
    )
    blobs = _CountedBlobs()
    deps = replace(build_listen_deps(world, transcriber), blobs=blobs)
    device = build_device(build_application(deps), world)
    with _Lines() as lines:
        await device.connect()
        for second in _build_talk() * CYCLES:
            world.clock.advance(seconds=1)
            await device.send(second)
        await device.leave()
    minutes = len(_build_talk()) * CYCLES / 60
    return Work(
        reads=sum(each.get("reads", 0) for each in lines.facts) / minutes,
        writes=sum(each.get("writes", 0) for each in lines.facts) / minutes,
        blobs=blobs.written / minutes,
        tasks=len(world.tasks.created) / minutes,
    )


def _build_talk() -> list[bytes]:
    """Build the seconds of some turns; gaps shorter than a pause keep them from being taken for a hum."""
    spoken, silent = (build_tone(1, quiet=((at, 1),))[WAV_HEADER_BYTES:] for at in (0.7, 0))
    return [second for turn_s in TURNS_S for second in (*[spoken] * turn_s, silent)]
