"""Killed streams: wherever a process dies, no word is told twice, and what was said before its last seconds is told."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from functions.media.live.application import build_application
from functions.media.live.waiting_sound import HELD_FOR, STORED_EVERY_S
from functions.media.sound.transcribe import transcribe
from shared.domain.conversations.recording import Recording
from tests.fakes import ScriptedModel, ScriptedTranscriber
from tests.fixtures.devices import ScriptedLiveTranscriber, build_device, build_listen_deps, settle
from tests.fixtures.processing import ALICE, ProcessingFixture, build_processing_fixture
from tests.fixtures.storage import MemoryDatabase
from tests.functions.media.live.test_late_sound import (
    WINDOW_S,
    WORDS,
    list_late,
    say,
)
from tests.functions.media.sound.test_transcribe import build_deps


@dataclass
class State:
    """What is stored at one moment."""

    documents: bytes
    blobs: dict[str, bytes]
    at: datetime


class WatchedDatabase(MemoryDatabase):
    """Tells of each of its states."""

    on_change: Callable[[bytes], None] | None = None
    _last = b""

    async def write(self, work: Any, *, is_brief: bool = False) -> Any:
        value = await super().write(work, is_brief=is_brief)
        content = self.serialize()
        if content != self._last and self.on_change is not None:
            self._last = content
            self.on_change(content)
        return value


async def play(world: ProcessingFixture) -> None:
    """Say four words; a slow provider tells each once more than one stretch of sound waits."""
    lines = [(n * WINDOW_S, n * WINDOW_S + 2.0, word) for n, word in enumerate(WORDS)]
    provider = ScriptedLiveTranscriber([*lines])
    app = build_application(build_listen_deps(world, provider))
    device = build_device(app, world, uid=ALICE)
    await device.connect()
    provider.streams[0].is_slow = True
    await say(world, device, len(WORDS))
    for _ in range(len(WORDS) * WINDOW_S):
        provider.streams[0].go_on()
        await settle()
    await device.leave()


async def recover(state: State) -> list[tuple[str, int]]:
    """Run what was left to tasks; return the words that are stored, with their seconds."""
    world = build_processing_fixture(MemoryDatabase(state.documents), ScriptedModel())
    began_at = world.clock.now()
    world.clock.time = state.at + HELD_FOR
    world.blobs.files = dict(state.blobs)
    for recording in await list_late(world):
        lines = list_lines(recording, began_at)
        deps = build_deps(world, ScriptedTranscriber([lines], tells_speakers=False))
        await transcribe(deps, ALICE, recording.id)
    return [
        (segment.text, round((live.started_at - began_at).total_seconds() + segment.start))
        for live in await world.deps.stores.live_conversations.list_all(ALICE)
        for batch in await world.deps.stores.live_conversations.load_batches(ALICE, live.id)
        for segment in batch.segments
    ]


def list_lines(recording: Recording, began_at: datetime) -> list[tuple[str, float, float, str]]:
    """Return what is said in a recording."""
    assert recording.started_at is not None
    assert recording.duration_s is not None
    begin = (recording.started_at - began_at) / timedelta(seconds=1)
    starts = [(n * WINDOW_S - begin, word) for n, word in enumerate(WORDS)]
    end = recording.duration_s
    return [("A", s, s + 2.0, word) for s, word in starts if s >= 0 and s + 2 <= end + 0.1]


async def test_no_word_is_lost_or_told_twice_wherever_its_process_is_killed_l3() -> None:
    database = WatchedDatabase()
    world = build_processing_fixture(database, ScriptedModel())
    began_at, states = world.clock.now(), list[State]()
    database.on_change = lambda content: states.append(
        State(content, dict(world.blobs.files), world.clock.now())
    )
    await play(world)

    for state in states:
        told = await recover(state)
        safe_s = (state.at - began_at).total_seconds() - STORED_EVERY_S - 1
        said = [(word, n * WINDOW_S) for n, word in enumerate(WORDS)]
        assert sorted(told, key=lambda each: each[1]) == [each for each in said if each in told]
        assert {each for each in said if each[1] + 2 <= safe_s} <= {*told}
    assert len(states) > len(WORDS)
