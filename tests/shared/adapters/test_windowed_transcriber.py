"""Live transcription in windows over a scripted transcriber."""

import asyncio
from typing import Any

import pytest

from shared.adapters.windowed_transcriber import WindowedTranscriber
from shared.domain.conversations.speech import Hearing
from shared.domain.errors import ModelFailed, Unavailable
from tests.fakes import AutoAdvanceClock, ScriptedTranscriber
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
    script = [[("A", 0, 1, "On")], [("A", 0, 1, "One tw")], [("A", 0, 3, "One two.")]]

    heard = await hear(build_samples(4, (3.3, 4)), *script, shows_guesses=True)

    assert list_texts(heard) == [("On", 0, False), ("One tw", 0, False), ("One two.", 0, True)]


async def test_a_passing_failure_is_tried_again_and_another_is_told() -> None:
    sound = build_samples(2, (1, 2))
    heard = await hear(sound, Unavailable("busy"), [("A", 0, 1, "One.")])

    assert list_texts(heard) == [("One.", 0, True)]
    with pytest.raises(ExceptionGroup) as failure:
        await hear(sound, ModelFailed("refused"))
    assert isinstance(failure.value.exceptions[0], ModelFailed)


async def test_sound_waits_while_too_much_is_unheard() -> None:
    transcriber = WindowedTranscriber(
        ScriptedTranscriber(), AutoAdvanceClock(), shows_guesses=False
    )
    spoken = build_samples(2, (1, 2))
    async with transcriber.open() as hearing:
        for _ in range(3):
            await hearing.hear(spoken)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await hearing.hear(spoken)
        assert hearing.heard_until < 0.5
