"""Doubles: what several devices recorded of one talk is recognised, and offered to be merged (I2)."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.fakes import UnmaskedModels
from tests.fixtures.library import CONVERSATIONS
from tests.fixtures.merging import EchoModel

TALK = (
    "We take the early train to Bergen, and Mara brings the tickets.",
    "Good. I booked the cabin behind the harbour for three nights.",
    "Then I will water the plants before we leave on Thursday.",
)
MISHEARD = (
    "We take the early train to Bergen and Mara brings tickets.",
    "Good I looked the cabin behind the harbour for three nights.",
    "Then I'll water the plants before we leave on Thursday",
)
OTHER = (
    "The roof costs nine thousand, says the builder from Molde.",
    "Tell them that we need the paint before the snow comes.",
    "I never liked that colour, it looks like old cheese.",
)
JAPANESE = (
    "明日の朝、駅で会いましょう。切符は田中さんが持ってきます。",
    "わかりました、七時に行きます。",
)


def build_recording(name: str, start: str, lines: Sequence[str], **changes: Any) -> dict[str, Any]:
    return {
        "id": name,
        "started_at": f"2026-03-02T{start}:00+01:00",
        "finished_at": "2026-03-02T10:30:00+01:00",
        "source": "phone",
        "language": "en",
        "transcript_segments": [
            {"text": line, "start": 60 * n, "end": 60 * n + 30} for n, line in enumerate(lines)
        ],
        **changes,
    }


async def add(world, alice, *recordings: dict[str, Any]) -> None:
    object.__setattr__(world.deps, "model", UnmaskedModels(model=EchoModel()))
    for recording in recordings:
        assert (await alice.post(CONVERSATIONS, json=recording)).status_code == 202
    await world.deliver_all()


async def list_doubles(alice, name: str) -> list[str]:
    answer = await alice.get(f"{CONVERSATIONS}/{name}/doubles")
    return [double["id"] for double in answer.raise_for_status().json()]


@pytest.mark.parametrize(
    ("start", "lines", "found"),
    [
        ("10:00", TALK, ["device"]),
        ("10:01", MISHEARD, ["device"]),
        ("10:00", OTHER, []),
        ("10:00", TALK[:1], ["device"]),
        ("10:00", ("Okay, thanks, see you, Mara.",), []),
    ],
)
async def test_another_recording_of_the_same_talk_is_named_i2(world, alice, start, lines, found):
    phone = build_recording("phone", "10:00", [*TALK, "Okay, thanks, see you, Mara."])
    await add(world, alice, phone, build_recording("device", start, lines))

    assert await list_doubles(alice, "phone") == found
    assert await list_doubles(alice, "device") == (["phone"] if found else [])


async def test_the_same_words_at_another_time_are_another_talk_i2(world, alice):
    earlier = build_recording("earlier", "08:00", TALK, finished_at="2026-03-02T08:30:00+01:00")
    await add(world, alice, earlier, build_recording("phone", "10:00", TALK))

    assert await list_doubles(alice, "phone") == []


async def test_a_talk_without_times_or_spaces_is_found_too_i2(world, alice):
    segments = [{"text": line} for line in JAPANESE]
    await add(
        world,
        alice,
        build_recording("phone", "10:00", JAPANESE),
        build_recording("device", "10:02", JAPANESE, transcript_segments=segments),
    )

    assert await list_doubles(alice, "phone") == ["device"]


async def test_what_is_merged_is_offered_no_more_i2(world, alice):
    await add(world, alice, *(build_recording(name, "10:00", TALK) for name in ("a", "b")))

    merged = await alice.post(f"{CONVERSATIONS}/merge", json={"conversation_ids": ["a", "b"]})
    await world.deliver_all()

    name = merged.json()["merged_conversation_id"]
    whole = (await alice.get(f"{CONVERSATIONS}/{name}")).json()
    assert [segment["text"] for segment in whole["transcript_segments"]] == list(TALK)
    assert await list_doubles(alice, name) == []


async def test_a_conversation_that_is_none_has_no_doubles(alice):
    assert (await alice.get(f"{CONVERSATIONS}/nothing/doubles")).status_code == 404
