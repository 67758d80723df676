"""Citations: one number per conversation over the whole turn, and what an answer really cites.

A model cites by the numbers that tools gave out. While its words stream, markers are renumbered by
first use, so that `[1]` is the first card from the first word on; the answer is stored as it was
said.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from shared.domain.chat import Card
from shared.domain.ids import ConversationId
from shared.domain.value import value

_LIKELY = 99
"""Up to here a bare number in brackets is meant as a citation: `[7]` is one, `[2024]` is none."""

_NUMBERS = "[0-9]{1,4}(?:, ?[0-9]{1,4}){0,9}"
_TOKEN = re.compile(rf"(?P<ticks>`{{1,3}})|(?P<newline>\n)| ?\[(?P<numbers>{_NUMBERS})\](?!\()")
_OPEN = re.compile(rf"(?: ?\[(?:{_NUMBERS}(?:, ?|\])?)?| )?\Z")
_LONGEST = 64
"""No shorter than the longest text that _OPEN matches."""

Rewrite = Callable[[Sequence[int]], str | None]
"""Gives a marker's new text by its numbers; None leaves it as it stands."""


@dataclass(slots=True)
class Citations:
    """The turn's numbering, from 1: what was given out, and what the answer shows of it."""

    cards: list[Card] = field(default_factory=list)
    shown: list[Card] = field(default_factory=list)
    _numbers: dict[ConversationId, int] = field(default_factory=dict)
    _places: dict[int, int] = field(default_factory=dict)

    def number(self, card: Card) -> int:
        """Give out the number of a conversation; the first call for it decides."""
        if card.id not in self._numbers:
            self.cards.append(card)
            self._numbers[card.id] = len(self.cards)
        return self._numbers[card.id]

    def mark(self, numbers: Sequence[int]) -> str | None:
        """Renumber a marker by first use; numbers that were never given out are left out.

        None for what is no citation: a number that is neither given out nor as small as ours are.
        """
        given = len(self.cards)
        if not given or not all(1 <= number <= max(given, _LIKELY) for number in numbers):
            return None
        return "".join(f"[{self._show(n)}]" for n in dict.fromkeys(numbers) if n <= given)

    def _show(self, number: int) -> int:
        if number not in self._places:
            self.shown.append(self.cards[number - 1])
            self._places[number] = len(self.shown)
        return self._places[number]


class Markers:
    """Rewrites the markers of a text that comes in pieces; every split of it gives the same.

    Code stays as it is: from one to three backticks to as many again; one or two end with their
    line. Only what the next piece may turn into a marker or a fence waits, less than 64 characters.
    """

    def __init__(self, rewrite: Rewrite) -> None:
        self._rewrite = rewrite
        self._held = ""
        self._code = ""

    def feed(self, piece: str) -> str:
        """Take the next piece; return what is certain by now."""
        text = self._held + piece
        certain = len(text) - _undecided(text)
        self._held = text[certain:]
        return _TOKEN.sub(self._replace, text[:certain])

    def end(self) -> str:
        """Return what waits; nothing follows it that could change it."""
        text, self._held = self._held, ""
        return _TOKEN.sub(self._replace, text)

    def _replace(self, match: re.Match[str]) -> str:
        if match["ticks"]:
            self._pass_ticks(match["ticks"])
        elif match["newline"]:
            self._code = self._code if self._code == "```" else ""
        elif not self._code:
            numbers = [int(number) for number in match["numbers"].split(",")]
            rewritten = self._rewrite(numbers)
            return match[0] if rewritten is None else rewritten
        return match[0]

    def _pass_ticks(self, ticks: str) -> None:
        if not self._code:
            self._code = ticks
        elif self._code == ticks:
            self._code = ""


def _undecided(text: str) -> int:
    """Count the characters at the end whose meaning the next piece decides."""
    ticks = len(text) - len(text.rstrip("`"))
    if ticks:
        return ticks % 3
    found = _OPEN.search(text[-_LONGEST:])
    return len(found[0]) if found else 0


@value
class Cited:
    """An answer with its citations taken apart.

    `text` has no markers. In `marked_text` a marker's number is the position in `cards`, from 1.
    """

    text: str
    marked_text: str
    cards: tuple[Card, ...]


def cite(said: str, shown: Sequence[Card]) -> Cited:
    """Take the markers out of what was said; `shown[n - 1]` is what its `[n]` cites."""
    markers = Markers(lambda numbers: "" if max(numbers) <= len(shown) and min(numbers) else None)
    text = markers.feed(said) + markers.end()
    return Cited(text=text, marked_text=said, cards=tuple(shown))
