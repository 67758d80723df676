"""Private copies: digits and secrets that a call's arguments take from what was read.

Whatever a call tells in bits, the user is asked when it copies these.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from math import inf
from typing import Any, Final

from functions.chat.consent.known_text import KnownText, normalize_text, spell_number
from functions.chat.consent.public_codes import is_near_year
from functions.chat.consent.time_code import parse_time
from shared.security.secrets import find_secrets

_RUN_LENGTH: Final = 4
_ID_LENGTH: Final = 8
_MAX_RETURNED_NUMBERS: Final = 500
"""A receiver that returns more may be listing all numbers of four digits, each in a longer text."""
_DIGITS: Final = re.compile(r"\d{4,}")
_SEPARATOR: Final = re.compile(r"(?<=\d)[ .,/-](?=\d)")
"""Of groups of digits: a number that the message writes in groups is in it."""


class ReadTexts:
    """Digits and secrets in texts that were read.

    Include all that the model was given but what the receiver of a call returned itself: keep one for
    each maker of tools.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.digits: set[str] = set()
        self.secrets: set[str] = set()
        for text in texts:
            self.add(text)

    def include(self, others: "ReadTexts") -> None:
        """Add what stands in other texts."""
        self.digits |= others.digits
        self.secrets |= others.secrets

    def add(self, text: str) -> None:
        """Index one more text. The work is linear in it."""
        self.digits |= _list_digit_runs(text)
        self.secrets |= {
            normalize_text(text[secret.start : secret.end]) for secret in find_secrets(text)
        }


def copies_private_text(arguments: Mapping[str, Any], known: KnownText, read: ReadTexts) -> bool:
    """Tell whether arguments contain four digits in a row, or a secret, of what was read.

    What the message contains as well is not private. Of three values only the bits are counted: a day or a
    year within five years, and a long id that the receiver returned, because it could not return them all.
    """
    message = known.message
    message_digits = _list_digit_runs(message) | _list_digit_runs(_SEPARATOR.sub("", message))
    digits = read.digits - message_digits
    secrets = [secret for secret in read.secrets if secret not in message]
    return any(
        _contains_any(normalize_text(text), secrets)
        or not digits.isdisjoint(_list_digit_runs(text, known.now))
        for text in _list_texts(arguments)
        if parse_time(text, known.now) is None and not _is_returned_id(text, known)
    )


def contains_unsaid_secret(arguments: Mapping[str, Any], known: KnownText) -> bool:
    """Tell whether arguments contain four digits in a row, or a secret, that the message does not say."""
    return copies_private_text(arguments, known, ReadTexts(_list_texts(arguments)))


def _contains_any(text: str, secrets: Iterable[str]) -> bool:
    return any(secret in text for secret in secrets)


def _is_returned_id(text: str, known: KnownText) -> bool:
    is_returned = len(text) >= _ID_LENGTH and known.measure_returned(text) < inf
    return is_returned and known.returned_numbers <= _MAX_RETURNED_NUMBERS


def _list_digit_runs(text: str, now: datetime | None = None) -> set[str]:
    """List all runs of exactly four decimal digits, those inside longer ones too; no years around `now`."""
    runs = (_to_ascii(match[0]) for match in _DIGITS.finditer(text))
    return {
        run[start : start + _RUN_LENGTH]
        for run in runs
        if now is None or not is_near_year(run, now)
        for start in range(len(run) - _RUN_LENGTH + 1)
    }


def _to_ascii(digits: str) -> str:
    return digits if digits.isascii() else "".join(str(unicodedata.decimal(d)) for d in digits)


def _list_texts(arguments: Any) -> Iterator[str]:
    nodes = [arguments]
    while nodes:
        node = nodes.pop()
        if isinstance(node, Mapping):
            nodes += [*node, *node.values()]
        elif isinstance(node, list | tuple):
            nodes += node
        elif isinstance(node, str):
            yield node
        elif isinstance(node, int | float):
            yield spell_number(node)
