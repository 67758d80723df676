"""Citations: one number per conversation over the whole turn, and what an answer really cites."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from shared.domain.chat import Card
from shared.domain.ids import ConversationId
from shared.domain.value import value

_CODE_OR_MARKER = re.compile(
    r"(?P<code>```.*?(?:```|\Z)|`[^`\n]*`)"
    r"| ?(?P<marker>\[(?P<numbers>\d{1,4}(?:,[ ]?\d{1,4})*)\])(?!\()",
    re.DOTALL,
)


@dataclass(slots=True)
class Citations:
    """The turn's numbering, from 1: a conversation keeps the number it first got."""

    cards: list[Card] = field(default_factory=list)
    _numbers: dict[ConversationId, int] = field(default_factory=dict)

    def number(self, card: Card) -> int:
        """Return the number of a conversation; the first call for it decides."""
        if card.id not in self._numbers:
            self.cards.append(card)
            self._numbers[card.id] = len(self.cards)
        return self._numbers[card.id]


@value
class Cited:
    """An answer with its citations taken apart.

    `text` has no markers. `marked_text` has them renumbered by first use; n is the position in
    `cards`, from 1.
    """

    text: str
    marked_text: str
    cards: tuple[Card, ...]


def cite(answer: str, cards: Sequence[Card]) -> Cited:
    """Take the citations out of an answer; `cards[n - 1]` is what `[n]` cites.

    Only numbers that were given out count: `a[0]`, `[2024]` and code stay as they are.
    """
    used: list[int] = []

    def valid(match: re.Match[str]) -> list[int]:
        if match["code"] is not None:
            return []
        numbers = [int(number) for number in match["numbers"].split(",")]
        return numbers if all(1 <= number <= len(cards) for number in numbers) else []

    def strip(match: re.Match[str]) -> str:
        return "" if valid(match) else match[0]

    def renumber(match: re.Match[str]) -> str:
        numbers = valid(match)
        used.extend(number for number in dict.fromkeys(numbers) if number not in used)
        return _markers(used.index(n) + 1 for n in numbers) if numbers else match[0]

    marked = _CODE_OR_MARKER.sub(renumber, answer)
    return Cited(
        text=_CODE_OR_MARKER.sub(strip, answer),
        marked_text=marked,
        cards=tuple(cards[number - 1] for number in used),
    )


def _markers(numbers: Iterable[int]) -> str:
    return "".join(f"[{number}]" for number in dict.fromkeys(numbers))
