"""Live transcription in windows over a scripted transcriber."""

import asyncio
from typing import Any

import pytest

from shared.adapters.windowed_transcriber import WindowedTranscriber
from shared.domain.conversations.speech import Hearing, Transcription, Utterance
from shared.domain.errors import ModelFailed, Unavailable
from tests.fakes import AutoAdvanceClock, ScriptedTranscriber
from tests.fixtures.devices import settle
from tests.shared.adapters.test_voice_windows import build_samples


async def hear(samples: bytes, *script: Any, shows_guesses: bool = False) -> list[Hearing]:
    """Hand in sound in pieces of 20 ms, and collect what is heard."""
    transcriber = WindowedTranscriber(
        ScriptedTranscriber([*script]), AutoAdvanceClock(), shows_guesses=shows_guesses
    )
    async with transcriber.open() as hearing, asyncio.TaskGroup() as tasks:
        told = tasks.create_task(collect(hearing))
        for at in range(0, len(samples), 640):
            await hearing.hear(samples[at : at + 640])
            await asyncio.sleep(0)
        await hearing.end()
    return told.result()


async def collect(hearing: Any) -> list[Hearing]:
    return [each async for each in hearing.iterate()]


def list_texts(hearings: list[Hearing]) -> list[tuple[str, float, bool]]:
    return [
        (each.text, round(each.start, 1), hearing.is_final)
        for hearing in hearings
        for each in hearing.utterances
    ]


async def test_each_window_is_heard_with_times_of_the_stream_l3() -> None:
    script = [[("A", 0.3, 2.0, "One.")], [("A", 0.3, 1.0, "Two.")]]

    heard = await hear(build_samples(10, (0, 2), (4, 6), (7, 10)), *script)

    assert list_texts(heard) == [("One.", 2.0, True), ("Two.", 6.0, True)]
    assert {each.speaker for hearing in heard for each in hearing.utterances} == {None}


async def test_an_open_window_is_guessed_where_that_costs_nothing() -> None:
    script = [[("A", 0, 1, "On")], [("A", 0, 1, "One tw")], [("A", 0, 2, "One two.")]]

    heard = await hear(build_samples(3, (2.3, 3)), *script, shows_guesses=True)

    assert list_texts(heard) == [("On", 0, False), ("One tw", 0, False), ("One two.", 0, True)]


async def test_a_passing_failure_is_tried_again_and_another_is_told() -> None:
    sound = build_samples(2, (1, 2))
    heard = await hear(sound, Unavailable("busy"), [("A", 0, 1, "One.")])

    assert list_texts(heard) == [("One.", 0, True)]
    with pytest.raises(ExceptionGroup) as failure:
        await hear(sound, ModelFailed("refused"))
    assert isinstance(failure.value.exceptions[0], ModelFailed)


@pytest.mark.parametrize("is_being_heard", [True, False])
async def test_what_waits_can_be_given_up_but_not_what_is_being_heard_l3(
    *,
    is_being_heard: bool,
) -> None:
    heard_by = SlowTranscriber(AutoAdvanceClock())
    transcriber = WindowedTranscriber(heard_by, AutoAdvanceClock(), shows_guesses=False)
    async with transcriber.open() as hearing:
        for _ in range(4):
            await hearing.hear(build_samples(8, (7, 8)))
        told = asyncio.create_task(collect(hearing))
        if is_being_heard:
            await heard_by.is_asked.wait()
        given_up = hearing.give_up()
        heard_until = hearing.heard_until
        heard_by.go_on.set()
        await hearing.end()

        assert [round(window.start) for window in given_up] == [0, 8, 16, 24][is_being_heard:]
        assert round(heard_until) == (0 if is_being_heard else 32)
        assert list_texts(await told) == [("Words.", 0, True)] * is_being_heard


async def test_a_slow_machine_guesses_no_oftener_than_it_hears() -> None:
    clock = AutoAdvanceClock()
    quick, slow = SlowTranscriber(clock), SlowTranscriber(clock, lasts_s=4.0)
    sound = build_samples(10)
    for heard_by in (quick, slow):
        heard_by.go_on.set()
        async with WindowedTranscriber(heard_by, clock, shows_guesses=True).open() as hearing:
            told = asyncio.create_task(collect(hearing))
            for at in range(0, len(sound), 3_200):
                await hearing.hear(sound[at : at + 3_200])
                await settle()
            await hearing.end()
            await told

    assert (quick.count, slow.count) == (10, 4)


class SlowTranscriber(ScriptedTranscriber):
    """Says the same of each sound, once it may; on `clock` it takes so long."""

    def __init__(self, clock: AutoAdvanceClock, *, lasts_s: float = 0.0) -> None:
        super().__init__()
        self.is_asked, self.go_on = asyncio.Event(), asyncio.Event()
        self.count = 0
        self._clock = clock
        self._lasts_s = lasts_s

    async def transcribe(self, sound: bytes, **_: Any) -> Transcription:
        self.count += 1
        self.is_asked.set()
        await self.go_on.wait()
        self._clock.advance(seconds=self._lasts_s)
        return Transcription(utterances=(Utterance(text="Words.", start=0, end=1),))
