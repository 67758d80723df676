"""Year of the sample library: three hundred talks made by rules, the same on every machine."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

COUNT = 300
_RULES_FILE = Path(__file__).with_name("sample_year.json")
_FIRST_DAY = 31
"""Days ago: the month comes after the year."""
_DAYS = 334
_STRIDE = 5
"""Shares no factor with any list of words but those of five, so that these meet all the others."""


def list_entries() -> Iterator[dict[str, Any]]:
    """Yield the talks as those of the month are written, newest first."""
    rules = _load_rules()
    threads = rules["threads"]
    for number in range(COUNT):
        thread, round_number = threads[number % len(threads)], number // len(threads)
        words = {
            "day": rules["days"][number * _STRIDE % len(rules["days"])],
            "price": str(12 + number * 37 % 480),
            "number": str(2 + number * 11 % 17),
        }
        for place, (slot, choices) in enumerate(sorted(thread["slots"].items())):
            words[slot] = choices[
                (round_number * _STRIDE + round_number // 5 + place) % len(choices)
            ]
        yield {
            "id": f"sample-year-{thread['name']}-{round_number:02}",
            "days_ago": _FIRST_DAY + number * _DAYS // COUNT,
            "time": thread["time"],
            "lines": [
                _begin_with_capital(
                    variants[(round_number >> place) % len(variants)].format(**words)
                )
                for place, variants in enumerate(thread["lines"])
            ],
        }


def _begin_with_capital(line: str) -> str:
    speaker, text = line.split(": ", 1)
    return f"{speaker[0].upper()}{speaker[1:]}: {text[0].upper()}{text[1:]}"


@cache
def _load_rules() -> dict[str, Any]:
    rules: dict[str, Any] = json.loads(_RULES_FILE.read_text(encoding="utf-8"))
    return rules
