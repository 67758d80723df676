"""Synthetic recordings as long as LoCoMo's sessions, the same on every machine."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

FIRST_START = datetime(2025, 1, 6, 18, 0, tzinfo=UTC)
SPEAKERS = ("Caroline", "Me")
WHO = ("I", "We", "Anna", "Tom", "My sister", "The dentist", "Our neighbour", "Paul", "Grandma")
DOES = ("will call", "met", "booked", "moved", "painted", "forgot", "likes", "visited", "repaired")
WHAT = (
    "the garden", "the printer", "a train to Lisbon", "the guitar", "peanuts", "the report",
    "the hotel in Berlin", "a doctor's appointment", "the kitchen", "the choir", "the tax papers",
)  # fmt: skip
WHEN = ("tomorrow", "last Friday", "on Monday", "in May", "next week", "yesterday", "at noon")


def generate_sessions(count: int) -> Iterator[dict[str, Any]]:
    """Yield conversations as clients post them: 20 to 30 turns of about 25 words, one a day."""
    rng = random.Random(7)  # noqa: S311 - no secret
    for number in range(count):
        start = FIRST_START + timedelta(days=number % 365, minutes=number)
        turns = rng.randint(20, 30)
        yield {
            "id": f"session-{number:05d}",
            "started_at": start.isoformat(),
            "finished_at": (start + timedelta(minutes=turns)).isoformat(),
            "source": "bench",
            "language": "en",
            "transcript_segments": [_generate_turn(rng, number) for number in range(turns)],
        }


def _generate_turn(rng: random.Random, number: int) -> dict[str, Any]:
    return {
        "text": " ".join(_generate_sentence(rng) for _ in range(4)),
        "speaker": SPEAKERS[number % 2],
        "is_user": number % 2 == 1,
        "start": 60 * number,
        "end": 60 * number + 50,
    }


def _generate_sentence(rng: random.Random) -> str:
    return " ".join(map(rng.choice, (WHO, DOES, WHAT, WHEN))) + "."
