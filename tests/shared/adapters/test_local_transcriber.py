"""Transcriber on this machine: what Whisper invents is left out, and no sound is lost with its process."""

import sys
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import numpy as np
import pytest

from shared.adapters.embedded.local_transcriber import LocalTranscriber
from shared.adapters.embedded.whisper_program import shorten_padding
from shared.domain.conversations.speech import Transcription
from shared.domain.errors import ModelFailed
from tests.fixtures.scripted_whisper import (
    DAWDLES,
    DIES,
    FILLS_MEMORY,
    PUZZLES,
    build_scripted_whisper,
    build_sound,
)

GOOD = (0.1, -0.4, 1.1)
HELLO = (*GOOD, [(0.5, 0.9, " Hallo"), (0.9, 1.2, " Ben.")])
ONE_ANSWER = """
import json, sys
header = json.loads(sys.stdin.buffer.readline())
sys.stdin.buffer.read(header["size_bytes"])
print(json.dumps({"segments": [], "language": "en"}), flush=True)
"""
"""A program that ends by itself after a sound, as the real one does once none came for long."""


async def hear(command: Sequence[str], *wishes: int) -> list[Transcription | str]:
    """Hand in sounds one after the other; return what became of each."""
    results = list[Transcription | str]()
    async with aclosing(LocalTranscriber("scripted", command)) as transcriber:
        for wish in wishes:
            try:
                results.append(await transcriber.transcribe(build_sound(wish)))
            except ModelFailed as error:
                results.append(str(error))
    return results


async def list_heard(folder: Path, *segments: Sequence[Any]) -> list[tuple[str, float, float]]:
    (heard,) = await hear(build_scripted_whisper(folder, *segments), 0)
    assert isinstance(heard, Transcription)
    return [(each.text, each.start, each.end) for each in heard.utterances]


async def test_sentences_and_pauses_part_what_is_said_by_the_times_of_its_words_l2(tmp_path):
    words = [
        *((0.0, 0.4, " Der"), (0.4, 0.9, " Zahnarzt.")),
        *((1.0, 1.3, " Am"), (1.3, 2.0, " Donnerstag"), (3.1, 3.5, " um"), (3.5, 4.0, " neun")),
    ]

    heard = await list_heard(tmp_path, (*GOOD, words))

    assert heard == [("Der Zahnarzt.", 0, 0.9), ("Am Donnerstag", 1, 2), ("um neun", 3.1, 4)]


@pytest.mark.parametrize(
    ("scores", "is_kept"),
    [
        (GOOD, True),
        ((0.9, -0.4, 1.1), True),  # whispered, and understood all the same
        ((0.2, -1.3, 1.1), True),  # hardly understood, and certainly said
        ((0.7, -1.3, 1.1), False),  # out of noise
        ((0.1, -0.1, 13.2), False),  # the same over and over, out of music
    ],
)
async def test_what_its_scores_show_to_be_invented_is_left_out_l2(tmp_path, scores, is_kept):
    heard = await list_heard(tmp_path, (*scores, [(0.0, 1.0, " Thank you.")]))

    assert heard == ([("Thank you.", 0, 1)] if is_kept else [])


async def test_silence_has_no_language(tmp_path):
    (nothing,) = await hear(build_scripted_whisper(tmp_path), 0)

    assert nothing == Transcription(utterances=(), language=None)


@pytest.mark.parametrize(
    ("wish", "failure"),
    [
        (DIES, "ended with code 9. Perhaps the memory does not suffice"),
        (FILLS_MEMORY, "ended with code 1. Perhaps the memory does not suffice"),
        (PUZZLES, "gave an answer that cannot be read"),
    ],
)
async def test_a_sound_that_ends_the_process_is_told_and_the_next_is_heard_l2(
    tmp_path, wish, failure
):
    told, heard = await hear(build_scripted_whisper(tmp_path, HELLO), wish, 0)

    assert isinstance(told, str)
    assert failure in told
    assert isinstance(heard, Transcription)
    assert [each.text for each in heard.utterances] == ["Hallo Ben."]


async def test_a_process_that_ended_by_itself_is_started_again():
    answers = await hear([sys.executable, "-c", ONE_ANSWER], 0, 0, 0)

    assert answers == [Transcription(utterances=())] * 3


async def test_whoever_gives_up_leaves_no_answer_to_the_next(tmp_path):
    command = build_scripted_whisper(tmp_path, HELLO)
    async with aclosing(LocalTranscriber("scripted", command)) as transcriber:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(transcriber.transcribe, build_sound(DAWDLES))
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
        heard = await transcriber.transcribe(build_sound(), language="en")

    assert (heard.utterances[0].text, heard.language) == ("Hallo Ben.", "en")


async def test_a_program_that_cannot_start_is_told(tmp_path):
    (told,) = await hear([str(tmp_path / "nothing")], 0)

    assert (
        told == "The process that turns speech into text did not start: No such file or directory."
    )


async def test_whisper_is_told_which_words_to_expect(tmp_path: Path) -> None:
    transcriber = LocalTranscriber("whisper", build_scripted_whisper(tmp_path))
    try:
        heard = await transcriber.transcribe(build_sound(), hint="Zoë, Keepsake")
    finally:
        await transcriber.aclose()

    assert [each.text for each in heard.utterances] == ["Zoë, Keepsake."]


@pytest.mark.parametrize(
    ("frames", "encoded"), [(0, 1_500), (1_300, 1_500), (1_301, 3_000), (3_000, 3_000)]
)
def test_a_draft_encodes_less_silence_behind_a_short_sound_l2(frames: int, encoded: int) -> None:
    features = np.zeros((80, 3_000))
    features[:, :frames] = 0.5
    whisper = SimpleNamespace(encode=lambda each: each)

    with shorten_padding(whisper):
        assert whisper.encode(features).shape == (80, encoded)
    assert whisper.encode(features).shape == (80, 3_000)


async def test_a_draft_has_the_words_of_a_segment_in_one_l2(tmp_path: Path) -> None:
    async with aclosing(
        LocalTranscriber("scripted", build_scripted_whisper(tmp_path, HELLO))
    ) as transcriber:
        draft = await transcriber.transcribe(build_sound(), is_draft=True)

    assert [(each.text, each.start, each.end) for each in draft.utterances] == [
        ("Hallo Ben.", 0.5, 1.2)
    ]
