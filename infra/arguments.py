"""Arguments of commands."""

from argparse import ArgumentTypeError
from collections.abc import Callable


def parse_number_between(first: int, last: int) -> Callable[[str], int]:
    """Return a type for argparse, which would list each number of a long range in its error."""

    def parse(text: str) -> int:
        if text.isdecimal() and first <= int(text) <= last:
            return int(text)
        raise ArgumentTypeError(f"{text!r}: want a number from {first} to {last}")

    return parse
