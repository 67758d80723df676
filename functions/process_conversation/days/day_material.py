"""Material of a daily summary: what is stored of one local day, within limits, as a model reads it."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from anyio import to_thread

from functions.process_conversation.days.spoken_lines import (
    SpokenLine,
    find_segments,
    list_lines,
)
from shared.data.stores import Stores
from shared.domain.account.profile import Profile
from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.daily_summary import find_bounds
from shared.domain.ids import ActionItemId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.store.sizes import truncate
from shared.domain.tasks.action_item import ActionItem
from shared.domain.value import value
from shared.models.windows import count_data_tokens, cut_texts, take_fitting

MAX_CONVERSATIONS = 100
MAX_RECORDS = 100
"""Tasks, and memories."""
MAX_OVERVIEW_CHARS = 1_500
"""A hundred overviews take some 40,000 tokens."""
MAX_TITLE_CHARS = 200
MAX_LINES = 40
"""Decisions, and numbers, of which amounts come first."""
RECORDS_SHARE = 6
"""Where a prompt is too short for all, tasks take this part of it, and memories and lines as much."""
READ_AT_ONCE = 5
"""Whole transcripts: each may have megabytes."""


@value
class DayMaterial:
    """Processed conversations of a day in the order in which they began, its tasks and memories, and what was said.

    `task_segments` are the places of the lines that name the tasks, None where no line does.
    """

    day: date
    zone: ZoneInfo
    language: str
    conversations: tuple[Conversation, ...]
    tasks: tuple[ActionItem, ...] = ()
    memories: tuple[Memory, ...] = ()
    lines: tuple[SpokenLine, ...] = ()
    task_segments: tuple[int | None, ...] = ()

    def to_data(self, max_tokens: int) -> Mapping[str, Any]:
        """Return it as data for a prompt of so many tokens; conversations and tasks are named by their numbers.

        Where that is too little, the longest conversations are named, then come the first tasks, memories and
        lines, and overviews share what is left.
        """
        data = self._describe_all()
        if count_data_tokens(data) <= max_tokens:
            return data
        named = _select_longest(data["conversations"], max_tokens // 2)
        fitted = {
            **data,
            "conversations": [{**row, "overview": ""} for row in named],
            "tasks": take_fitting(data["tasks"], max_tokens // RECORDS_SHARE),
            "memories": take_fitting(data["memories"], max_tokens // RECORDS_SHARE),
            "lines": take_fitting(data["lines"], max_tokens // RECORDS_SHARE),
        }
        overviews = cut_texts(
            [row["overview"] for row in named], max_tokens - count_data_tokens(fitted)
        )
        rows = zip(named, overviews, strict=True)
        return {**fitted, "conversations": [{**row, "overview": text} for row, text in rows]}

    def _describe_all(self) -> Mapping[str, Any]:
        numbers = {conversation.id: n for n, conversation in enumerate(self.conversations)}
        return {
            "day": self.day.isoformat(),
            "language": self.language,
            "conversations": [
                {"conversation": n, **self._describe(conversation)}
                for n, conversation in enumerate(self.conversations)
            ],
            "tasks": [
                {
                    "task": n,
                    "description": task.description,
                    "completed": task.completed,
                    "conversation": task.conversation_id and numbers.get(task.conversation_id),
                }
                for n, task in enumerate(self.tasks)
            ],
            "memories": [memory.content for memory in self.memories],
            "lines": [
                {
                    "line": n,
                    "kind": "decision" if line.kind == "decision" else "number",
                    "said": line.quote,
                    "conversation": numbers[line.conversation_id],
                }
                for n, line in enumerate(self.lines)
            ],
        }

    def _describe(self, conversation: Conversation) -> Mapping[str, Any]:
        structured = conversation.structured
        duration = conversation.finished_at - conversation.started_at
        return {
            "began_at": f"{conversation.started_at.astimezone(self.zone):%H:%M}",
            "minutes": round(duration.total_seconds() / 60),
            "title": structured.title[:MAX_TITLE_CHARS],
            "overview": truncate(structured.overview, MAX_OVERVIEW_CHARS),
            "category": structured.category,
        }


async def load_material(
    stores: Stores, uid: UserId, day: date, profile: Profile
) -> DayMaterial | None:
    """Load a local day; None for one without a processed conversation."""
    start, end = find_bounds(day, profile.zone)
    conversations, tasks, memories = await asyncio.gather(
        stores.conversations.list_between(uid, start=start, end=end, limit=MAX_CONVERSATIONS),
        stores.action_items.list_created_between(uid, start, end, limit=MAX_RECORDS),
        stores.memories.list_created_between(uid, start, end, limit=MAX_RECORDS),
    )
    processed = [c for c in conversations if c.status == "completed"]
    if not processed:
        return None
    material = DayMaterial(
        day=day,
        zone=profile.zone,
        language=profile.language or _find_language(processed),
        conversations=tuple(reversed(processed)),
        tasks=tuple(task for task in tasks if task.owner == "me"),
        memories=tuple(memory for memory in memories if memory.is_current),
    )
    return await _add_lines(stores, uid, material)


async def _add_lines(stores: Stores, uid: UserId, material: DayMaterial) -> DayMaterial:
    """Read the transcripts of a day, a few at a time, for the lines that prove what its summary says."""
    ids = [conversation.id for conversation in material.conversations]
    lines: list[SpokenLine] = []
    places: dict[ActionItemId, int | None] = {}
    for start in range(0, len(ids), READ_AT_ONCE):
        stored = await stores.conversations.find_many(uid, ids[start : start + READ_AT_ONCE])
        for whole in await stores.conversations.load_transcripts(uid, stored):
            if whole is not None:
                own = [task for task in material.tasks if task.conversation_id == whole.id]
                found, segments = await to_thread.run_sync(_read_lines, whole, own)
                lines.extend(found)
                places.update(zip((task.id for task in own), segments, strict=True))
    return replace(
        material,
        lines=select_lines(lines),
        task_segments=tuple(places.get(task.id) for task in material.tasks),
    )


def _read_lines(
    whole: Conversation, tasks: Sequence[ActionItem]
) -> tuple[list[SpokenLine], list[int | None]]:
    return [*list_lines(whole)], find_segments([task.description for task in tasks], whole)


def select_lines(lines: Sequence[SpokenLine]) -> tuple[SpokenLine, ...]:
    """Return the decisions, then amounts, then other numbers, each kind as it was said and within the limit."""
    decisions = [line for line in lines if line.kind == "decision"]
    numbers = sorted(
        (line for line in lines if line.kind != "decision"), key=lambda line: line.kind == "count"
    )
    return (*decisions[:MAX_LINES], *numbers[:MAX_LINES])


def _select_longest(rows: Sequence[Mapping[str, Any]], max_tokens: int) -> list[Mapping[str, Any]]:
    """Return the longest conversations in their order: as many as fit without their overviews."""
    longest_first = sorted(rows, key=lambda row: -row["minutes"])
    names = take_fitting(({**row, "overview": ""} for row in longest_first), max_tokens)
    named = {row["conversation"] for row in names}
    return [row for row in rows if row["conversation"] in named]


def _find_language(conversations: Sequence[Conversation]) -> str:
    """Return the language that was spoken in most of them."""
    return Counter(one.language for one in conversations).most_common(1)[0][0]
