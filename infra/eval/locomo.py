"""LoCoMo files: people, their dated talks and the questions about them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

Person = Mapping[str, Any]
Talk = tuple[str, int]
TurnId = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of a person's talk; `date` as the file writes it."""

    talk: Talk
    id: TurnId
    speaker: str
    text: str
    date: str

    @property
    def line(self) -> str:
        return f"{self.speaker}: {self.text}"

    @property
    def cost(self) -> float:
        """Estimated tokens: one for four characters, and four a turn."""
        return len(self.line) / 4 + 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    text: str
    category: int
    evidence: frozenset[TurnId]

    @property
    def person(self) -> str:
        return min(self.evidence)[0]

    @property
    def talks(self) -> set[Talk]:
        return {(person, int(turn[1:].split(":")[0])) for person, turn in self.evidence}


def parse_turns(people: Sequence[Mapping[str, Any]]) -> list[Turn]:
    return [turn for person in people for turn in _parse_person_turns(person)]


def parse_questions(people: Sequence[Mapping[str, Any]], turn_ids: set[TurnId]) -> list[Question]:
    """Return the questions whose evidence exists, in order."""
    candidates = [
        Question(
            text=q["question"], category=q["category"], evidence=_parse_evidence(p, q) & turn_ids
        )
        for p in people
        for q in p["qa"]
    ]
    return [question for question in candidates if question.evidence]


def parse_start(date: str) -> datetime:
    return datetime.strptime(date, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def _parse_person_turns(person: Mapping[str, Any]) -> Iterator[Turn]:
    talks, name, number = person["conversation"], person["sample_id"], 1
    while session := talks.get(f"session_{number}"):
        for turn in session:
            caption = turn.get("blip_caption")
            yield Turn(
                talk=(name, number),
                id=(name, turn["dia_id"]),
                speaker=turn["speaker"],
                text=turn["text"] + (f" (image: {caption})" if caption else ""),
                date=talks[f"session_{number}_date_time"],
            )
        number += 1


def _parse_evidence(person: Mapping[str, Any], question: Mapping[str, Any]) -> frozenset[TurnId]:
    text = " ".join(question.get("evidence", []))
    return frozenset((person["sample_id"], turn) for turn in re.findall(r"D\d+:\d+", text))
