"""Disclosure: the time that measuring a call's arguments takes, at their worst and copied."""

import random
import string
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from functions.chat.consent.disclosure import TURN_BUDGET_BITS, measure_disclosure
from functions.chat.consent.known_text import KnownText
from infra.bench.figures import Figure

CHARS = 16_384
ROUNDS = 50
NOW = datetime(2026, 11, 22, 15, 30, tzinfo=UTC)
SHORT_MESSAGE = "What will the weather be in Berlin tomorrow?"
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "cells": {"type": "array", "items": {"type": "string"}},
    },
}


def measure_disclosures() -> list[Figure]:
    """Measure with an index of the message that is built anew for each call, as a turn's first is."""
    words = _draw_words(random.Random(1))  # noqa: S311 - the same words in every run
    copied = _measure_ms({"query": words}, words)
    beyond = {name: _measure_ms(call, SHORT_MESSAGE) for name, call in _list_calls(words).items()}
    worst = max(beyond, key=lambda name: beyond[name])
    return [
        Figure("disclosure: 16 KB copied from the message", copied, "ms", target=5),
        Figure(f"disclosure: 16 KB beyond the budget, {worst}", beyond[worst], "ms", target=1),
    ]


def _draw_words(draw: random.Random) -> str:
    letters = (draw.choice(string.ascii_lowercase + "   ") for _ in range(CHARS))
    return " ".join("".join(letters).split()).ljust(CHARS, "z")


def _list_calls(words: str) -> Mapping[str, Mapping[str, Any]]:
    return {
        "as words": {"query": words},
        "as marks": {"query": "a" + "\u0301\u0323" * (CHARS // 4)},
        "as Hangul": {"query": "가" * (CHARS // 3)},
        "as words of the message": {"query": "weather Berlin " * (CHARS // 15)},
        "as a list": {"cells": words.split()},
        "as words in a list": {"cells": ["Berlin"] * (CHARS // 9)},
        "as empty lists": {"cells": [[]] * (CHARS // 3)},
        "as numbers": {"cells": [7] * (CHARS // 2)},
        "as keys": dict.fromkeys(words.split(), True),
    }


def _measure_ms(arguments: Mapping[str, Any], message: str) -> float:
    """Return the time of the fastest of some rounds: the machine's noise only adds to it."""
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        known = KnownText(message=message, returned=(), now=NOW)
        measure_disclosure(arguments, SCHEMA, known, tools=8, limit=TURN_BUDGET_BITS)
        times.append(time.perf_counter() - started)
    return min(times) * 1_000
