"""Citations: markers renumbered by first use, one number for each conversation of a turn.

A model cites by the numbers that tools gave out. While its text streams, markers are renumbered, so
that `[1]` is the first card from the first word on; the answer is stored as it was streamed.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from shared.domain.chat import Card
from shared.domain.ids import ConversationId
from shared.domain.value import value

_NUMBERS = "[0-9]{1,4}(?:, ?[0-9]{1,4}){0,9}"
_TOKEN = re.compile(rf"(?P<ticks>`{{1,3}})|(?P<newline>\n)| ?\[(?P<numbers>{_NUMBERS})\](?!\()")
_PARTIAL_MARKER = re.compile(rf"(?: ?\[(?:{_NUMBERS}(?:, ?|\])?)?| )?\Z")
_MAX_PENDING_CHARS = 64
"""At least the length of the longest text that _PARTIAL_MARKER matches."""

Rewrite = Callable[[Sequence[int]], str | None]
"""Returns the new text of a marker for its numbers; None keeps the marker as it is."""


@dataclass(slots=True)
class Citations:
    """Numbers of one turn, from 1: `cards` in the order of assignment, `shown_cards` as cited.

    The first `given` numbers are documents that came with the question, which have no cards.
    """

    given: int = 0
    cards: list[Card] = field(default_factory=list)
    shown_cards: list[Card] = field(default_factory=list)
    _numbers: dict[ConversationId, int] = field(default_factory=dict)
    _positions: dict[int, int] = field(default_factory=dict)

    def assign_number(self, card: Card) -> int:
        """Return the number of a conversation; its first card is the one that counts."""
        if card.id not in self._numbers:
            self.cards.append(card)
            self._numbers[card.id] = self.given + len(self.cards)
        return self._numbers[card.id]

    def render_marker(self, numbers: Sequence[int]) -> str | None:
        """Renumber a marker by first use, without numbers of given documents.

        Return None for text that is no citation: one of its numbers was never assigned.
        """
        if not all(1 <= number <= self.given + len(self.cards) for number in numbers):
            return None
        cited = [number for number in dict.fromkeys(numbers) if number > self.given]
        return "".join(f"[{self._assign_position(number)}]" for number in cited)

    def _assign_position(self, number: int) -> int:
        if number not in self._positions:
            self.shown_cards.append(self.cards[number - self.given - 1])
            self._positions[number] = len(self.shown_cards)
        return self._positions[number]


class CitationRewriter:
    """Rewrites the markers of a streamed text; the result does not depend on how it is split.

    Code, between equal runs of one to three backticks, stays as it is; one or two backticks end
    with their line. Fewer than 64 characters are pending: those that the next piece may turn into
    a marker or a fence.
    """

    def __init__(self, rewrite: Rewrite) -> None:
        self._rewrite = rewrite
        self._pending = ""
        self._code_fence = ""

    def feed(self, piece: str) -> str:
        """Add the next piece; return the text that no later piece can change."""
        text = self._pending + piece
        decided_end = len(text) - _count_undecided(text)
        self._pending = text[decided_end:]
        return _TOKEN.sub(self._replace, text[:decided_end])

    def flush(self) -> str:
        """Return the pending text at the end of the stream."""
        text, self._pending = self._pending, ""
        return _TOKEN.sub(self._replace, text)

    def _replace(self, match: re.Match[str]) -> str:
        if match["ticks"]:
            self._track_code(match["ticks"])
        elif match["newline"]:
            self._code_fence = self._code_fence if self._code_fence == "```" else ""
        elif not self._code_fence:
            numbers = [int(number) for number in match["numbers"].split(",")]
            marker = self._rewrite(numbers)
            return match[0] if marker is None else marker
        return match[0]

    def _track_code(self, ticks: str) -> None:
        if not self._code_fence:
            self._code_fence = ticks
        elif self._code_fence == ticks:
            self._code_fence = ""


def _count_undecided(text: str) -> int:
    """Count the characters at the end whose meaning the next piece decides."""
    ticks = len(text) - len(text.rstrip("`"))
    if ticks:
        return ticks % 3
    match = _PARTIAL_MARKER.search(text[-_MAX_PENDING_CHARS:])
    return len(match[0]) if match else 0


@value
class CitedText:
    """An answer without markers (`text`) and with them (`marked_text`).

    The number of a marker is the position in `cards`, from 1.
    """

    text: str
    marked_text: str
    cards: tuple[Card, ...]


def strip_markers(marked_text: str, cards: Sequence[Card]) -> CitedText:
    """Remove the markers from an answer; its `[n]` cites `cards[n - 1]`."""
    rewriter = CitationRewriter(
        lambda numbers: "" if max(numbers) <= len(cards) and min(numbers) else None
    )
    text = rewriter.feed(marked_text) + rewriter.flush()
    return CitedText(text=text, marked_text=marked_text, cards=tuple(cards))
