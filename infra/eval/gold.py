"""Gold set: transcripts with the facts about their user that should be remembered, and the score.

A talk is a trap, its lines ("ME: " is the user) and the expected facts: the segments any of which may
prove one, and the terms that its wording must contain. Rules are tuned on the first half, the talks at
even places; the other half shows how they do on words they were not written for.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from shared.data.store.codec import type_adapter
from shared.domain.conversations.conversation import Conversation, Segment
from shared.domain.ids import ConversationId
from shared.domain.memories.memory import Memory
from shared.domain.value import value

FOLDER = Path(__file__).parent / "gold"
LANGUAGES = ("en", "de", "fr", "es", "it")
OWNER_SPEAKER = "ME"
_START_TIME = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@value
class ExpectedFact:
    segments: tuple[int, ...]
    terms: tuple[str, ...]

    def is_stated_by(self, memory: Memory) -> bool:
        content = memory.content.casefold()
        return memory.segment in self.segments and all(
            term.casefold() in content for term in self.terms
        )


@value
class GoldTalk:
    language: str
    half: Literal["tuned", "held out"]
    trap: str
    lines: tuple[str, ...]
    expected: tuple[ExpectedFact, ...]


@value
class Score:
    """Counts of memories: extracted, expected, and expected ones that were extracted."""

    extracted: int = 0
    expected: int = 0
    correct: int = 0

    @property
    def precision(self) -> float:
        return self.correct / self.extracted if self.extracted else 1.0

    @property
    def recall(self) -> float:
        return self.correct / self.expected if self.expected else 1.0


Result = tuple[GoldTalk, Score]


def load_talks() -> list[GoldTalk]:
    rows = [
        {"language": language, "half": "held out" if number % 2 else "tuned", **row}
        for language in LANGUAGES
        for number, row in enumerate(json.loads((FOLDER / f"{language}.json").read_text()))
    ]
    talks: list[GoldTalk] = type_adapter(list[GoldTalk]).validate_python(rows)
    return talks


def build_conversation(talk: GoldTalk) -> Conversation:
    parts = [line.partition(": ") for line in talk.lines]
    return Conversation(
        id=ConversationId("talk"),
        created_at=_START_TIME,
        started_at=_START_TIME,
        finished_at=_START_TIME + timedelta(minutes=10),
        language=talk.language,
        transcript_segments=tuple(
            Segment(
                text=text, speaker=speaker, is_user=speaker == OWNER_SPEAKER, start=n, end=n + 1
            )
            for n, (speaker, _, text) in enumerate(parts)
        ),
    )


def score_memories(talk: GoldTalk, memories: Iterable[Memory]) -> Score:
    """Score the memories about the user; the set has none learned from others."""
    owner_memories = [memory for memory in memories if memory.category == "system"]
    correct = sum(any(map(fact.is_stated_by, owner_memories)) for fact in talk.expected)
    return Score(extracted=len(owner_memories), expected=len(talk.expected), correct=correct)


def sum_scores(results: Sequence[Result]) -> Score:
    return Score(
        extracted=sum(talk_score.extracted for _, talk_score in results),
        expected=sum(talk_score.expected for _, talk_score in results),
        correct=sum(talk_score.correct for _, talk_score in results),
    )
