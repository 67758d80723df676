"""Gold talks of extraction: short conversations with the tasks, dates and memories that should come of them, and the score.

They are in six languages and three zones, in the evening, in the morning and over changes of the clocks. Rules and
prompts are tuned on the talks at even places of a file; the others show how they do on words they were not written for.
A talk that comes `again` is another recording of the one before it, for the same owner.
"""

import json
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from shared.data.store.codec import type_adapter
from shared.domain.conversations.conversation import Conversation, Event, Segment
from shared.domain.ids import ConversationId
from shared.domain.memories.memory import Memory
from shared.domain.tasks.action_item import ActionItem
from shared.domain.value import value
from shared.domain.wall_clock import EVENING, read_wall_clock

FOLDER = Path(__file__).parent / "talks"
LANGUAGES = ("en", "de", "fr", "es", "it", "ja")
OWNER_SPEAKER = "ME"


@value
class ExpectedTask:
    """`owner` is `me`, a name, or `other` for a voice without one; `due` as a calendar there shows it."""

    terms: tuple[str, ...]
    owner: str
    due: str | None = None
    optional: bool = False


@value
class ExpectedEvent:
    terms: tuple[str, ...]
    start: str


@value
class ExpectedMemory:
    terms: tuple[str, ...]


@value
class Talk:
    """`drop` are words that no memory may have."""

    id: str
    language: str
    half: Literal["tuned", "held out"]
    trap: str
    zone: str
    start: str
    lines: tuple[str, ...]
    owner_names: tuple[str, ...] = ("Alex Weber",)
    tasks: tuple[ExpectedTask, ...] = ()
    events: tuple[ExpectedEvent, ...] = ()
    keep: tuple[ExpectedMemory, ...] = ()
    drop: tuple[str, ...] = ()
    discarded: bool = False
    again: bool = False

    @property
    def started_at(self) -> datetime:
        local = datetime.fromisoformat(self.start).replace(tzinfo=ZoneInfo(self.zone))
        return local.astimezone(UTC)


@value
class Extracted:
    """What processing made of a talk."""

    conversation: Conversation
    tasks: Sequence[ActionItem]
    memories: Sequence[Memory]
    input_tokens: int = 0
    calls: int = 0


@value
class Tally:
    """Counts over talks. `right_*` are of the tasks that were found and expected."""

    expected_tasks: int = 0
    extracted_tasks: int = 0
    found_tasks: int = 0
    right_owners: int = 0
    right_dues: int = 0
    expected_events: int = 0
    found_events: int = 0
    expected_memories: int = 0
    kept_memories: int = 0
    wrong_memories: int = 0
    lost: int = 0
    kept_scraps: int = 0
    input_tokens: int = 0
    calls: int = 0

    @property
    def task_f1(self) -> float:
        counted = self.expected_tasks + self.extracted_tasks
        return 2 * self.found_tasks / counted if counted else 1.0

    def __add__(self, other: "Tally") -> "Tally":
        names = [field.name for field in fields(Tally)]
        return Tally(**{name: getattr(self, name) + getattr(other, name) for name in names})


def load_talks() -> list[Talk]:
    rows = [
        {
            "id": f"{language}-{number}",
            "language": language,
            "half": "held out" if number % 2 else "tuned",
            **row,
        }
        for language in LANGUAGES
        for number, row in enumerate(json.loads((FOLDER / f"{language}.json").read_text("utf-8")))
    ]
    talks: list[Talk] = type_adapter(list[Talk]).validate_python(rows)
    return talks


def build_conversation(talk: Talk) -> Conversation:
    parts = [line.partition(": ") for line in talk.lines]
    return Conversation(
        id=ConversationId(talk.id),
        created_at=talk.started_at,
        started_at=talk.started_at,
        finished_at=talk.started_at + timedelta(minutes=10),
        language=talk.language,
        transcript_segments=tuple(
            Segment(
                text=text, speaker=speaker, is_user=speaker == OWNER_SPEAKER, start=n, end=n + 1
            )
            for n, (speaker, _, text) in enumerate(parts)
        ),
    )


def score(talk: Talk, extracted: Extracted) -> Tally:
    """Score one talk; optional tasks count neither as expected nor as too many."""
    zone = ZoneInfo(talk.zone)
    pairs = [(wanted, _find(wanted, extracted.tasks)) for wanted in talk.tasks]
    optional = [task for wanted, task in pairs if wanted.optional and task]
    found = [(wanted, task) for wanted, task in pairs if task and not wanted.optional]
    kept = [m for m in talk.keep if any(_has(m.terms, each.content) for each in extracted.memories)]
    is_discarded = extracted.conversation.discarded
    return Tally(
        expected_tasks=sum(not wanted.optional for wanted in talk.tasks),
        extracted_tasks=len(extracted.tasks) - len(optional),
        found_tasks=len(found),
        right_owners=sum(_is_owner(wanted.owner, task) for wanted, task in found),
        right_dues=sum(task.due_at == read_wall_clock(w.due, zone, EVENING) for w, task in found),
        expected_events=len(talk.events),
        found_events=sum(
            _is_listed(wanted, extracted.conversation.structured.events, zone)
            for wanted in talk.events
        ),
        expected_memories=len(talk.keep),
        kept_memories=len(kept),
        wrong_memories=sum(
            not any(_has(m.terms, each.content) for m in talk.keep) for each in extracted.memories
        ),
        lost=is_discarded and not talk.discarded,
        kept_scraps=talk.discarded and not is_discarded,
        input_tokens=extracted.input_tokens,
        calls=extracted.calls,
    )


def _find(wanted: ExpectedTask, tasks: Sequence[ActionItem]) -> ActionItem | None:
    return next((task for task in tasks if _has(wanted.terms, task.description)), None)


def _is_owner(owner: str, task: ActionItem) -> bool:
    if owner in ("me", "other"):
        return task.owner == owner
    return task.owner == "other" and (task.owner_name or "").casefold() == owner.casefold()


def _is_listed(wanted: ExpectedEvent, events: Sequence[Event], zone: ZoneInfo) -> bool:
    start = read_wall_clock(wanted.start, zone)
    return any(event.start == start and _has(wanted.terms, event.title) for event in events)


def _has(terms: Sequence[str], text: str) -> bool:
    return all(term.casefold() in text.casefold() for term in terms)
