"""Arguments of commands."""

from argparse import ArgumentTypeError
from collections.abc import Callable
from datetime import datetime


def parse_number_between(first: int, last: int) -> Callable[[str], int]:
    """Return a type for argparse, which would list each number of a long range in its error."""

    def parse(text: str) -> int:
        if text.isdecimal() and first <= int(text) <= last:
            return int(text)
        raise ArgumentTypeError(f"{text!r}: want a number from {first} to {last}")

    return parse


def parse_moment(text: str) -> datetime:
    """Read a time with its zone, for argparse."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ArgumentTypeError(
            f"{text!r}: want a time with its zone, such as 2026-03-01T00:00:00Z"
        )
    return moment
