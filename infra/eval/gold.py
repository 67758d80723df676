"""Transcripts with the facts about their owner that should be remembered, and how an answer scores.

A talk is a trap, its lines ("ME: " is the owner) and the facts that are expected: the segments any of
which may prove one, and the terms that its wording must hold. Rules are tuned on the first half, the
talks at even places; the other half says what they are worth on words they were not written for.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from shared.domain.conversation import Conversation, Segment
from shared.domain.ids import ConversationId
from shared.domain.memory import Memory
from shared.domain.value import value

FOLDER = Path(__file__).parent / "gold"
LANGUAGES = ("en", "de", "fr", "es", "it")
OWNER = "ME"
_AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@value
class Fact:
    segments: tuple[int, ...]
    terms: tuple[str, ...]

    def is_told_by(self, memory: Memory) -> bool:
        said = memory.content.casefold()
        return memory.segment in self.segments and all(
            term.casefold() in said for term in self.terms
        )


@value
class Talk:
    language: str
    half: Literal["tuned", "held out"]
    trap: str
    lines: tuple[str, ...]
    expected: tuple[Fact, ...]


@value
class Score:
    """How many memories there are, how many there should be, and how many of these there are."""

    found: int = 0
    expected: int = 0
    right: int = 0

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.expected if self.expected else 1.0


Result = tuple[Talk, Score]


def talks() -> list[Talk]:
    return [
        _talk(language, number, told)
        for language in LANGUAGES
        for number, told in enumerate(json.loads((FOLDER / f"{language}.json").read_text()))
    ]


def conversation(talk: Talk) -> Conversation:
    said = [line.partition(": ") for line in talk.lines]
    return Conversation(
        id=ConversationId("talk"),
        created_at=_AT,
        started_at=_AT,
        finished_at=_AT + timedelta(minutes=10),
        language=talk.language,
        transcript_segments=tuple(
            Segment(text=text, speaker=speaker, is_user=speaker == OWNER, start=n, end=n + 1)
            for n, (speaker, _, text) in enumerate(said)
        ),
    )


def score(talk: Talk, memories: Iterable[Memory]) -> Score:
    """Count what is said about the owner; what was learned from others is not in the set."""
    about = [memory for memory in memories if memory.category == "system"]
    right = sum(any(map(fact.is_told_by, about)) for fact in talk.expected)
    return Score(found=len(about), expected=len(talk.expected), right=right)


def total(results: Sequence[Result]) -> Score:
    return Score(
        found=sum(one.found for _, one in results),
        expected=sum(one.expected for _, one in results),
        right=sum(one.right for _, one in results),
    )


def _talk(language: str, number: int, told: dict[str, Any]) -> Talk:
    return Talk(
        language=language,
        half="held out" if number % 2 else "tuned",
        trap=told["trap"],
        lines=tuple(told["lines"]),
        expected=tuple(
            Fact(segments=tuple(fact["segments"]), terms=tuple(fact["terms"]))
            for fact in told["expected"]
        ),
    )
