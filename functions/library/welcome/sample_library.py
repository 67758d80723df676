"""Sample library: a month of invented conversations for a first look around, or a year, and its removal.

Also called: demo data, seed data, sample data.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime, time, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from anyio import CapacityLimiter, create_task_group

from functions.library.welcome.sample_schemas import SampleLibraryOut, SampleLibraryQuery
from functions.library.welcome.sample_year import list_entries
from shared.domain.conversations.conversation import Conversation, Segment
from shared.domain.errors import Conflict, NotFound
from shared.domain.ids import ConversationId, UserId
from shared.edge.declare.routes import Call, route
from shared.library.deps import LibraryDeps
from shared.library.ingestion import ingest

SOURCE = "sample"
"""Marks what may be removed again; a client cannot hand in a conversation with this source."""
_MONTH_FILE = Path(__file__).with_name("sample_month.json")
_OWNER = "Me"
_SECONDS_PER_CHARACTER = 0.07
_AT_ONCE = 4


@route(
    "POST",
    "/v1/sample-library",
    "Add a month of invented conversations to look around in, or a year",
    status=202,
    errors=(401, 422, 429),
)
async def load_sample_library(
    deps: LibraryDeps, call: Call[None, SampleLibraryQuery]
) -> SampleLibraryOut:
    """Add what is missing: a repeat adds nothing, and keeps the days of what is there."""
    profile = await deps.stores.profiles.get(call.uid)
    stored = await _list_stored(deps, call.uid)
    today = deps.clock.now().astimezone(profile.zone)
    known_ids = {conversation.id for conversation in stored}
    entries = [*_load_month(), *(list_entries() if call.query.years else ())]
    missing = [c for c in _build(entries, today, profile.zone) if c.id not in known_ids]
    limiter = CapacityLimiter(_AT_ONCE)
    async with create_task_group() as tasks:
        for conversation in missing:
            tasks.start_soon(_add, deps, call.uid, conversation, limiter)
    return SampleLibraryOut(conversations=len(entries))


@route(
    "DELETE",
    "/v1/sample-library",
    "Remove the invented conversations and what was derived from them",
    status=204,
    errors=(401,),
)
async def remove_sample_library(deps: LibraryDeps, call: Call) -> None:
    """Delete what this account was given, and nothing else; a repeat finds nothing to delete."""
    for conversation in await _list_stored(deps, call.uid):
        with suppress(NotFound):
            now, stored = deps.clock.now(), deps.stores.conversations
            text_bytes = await stored.delete(call.uid, conversation.id, now=now)
            await deps.quotas.give_back(call.uid, "stored_bytes", text_bytes, now=now)
            await deps.stores.merges.finish(call.uid, conversation.id)


def build_month(now: datetime, zone: ZoneInfo) -> Iterator[Conversation]:
    """Yield the conversations of the month with days counted back from `now`, on the clock of `zone`."""
    return _build(_load_month(), now, zone)


def _build(
    entries: Iterable[dict[str, Any]], now: datetime, zone: ZoneInfo
) -> Iterator[Conversation]:
    for entry in entries:
        day = now.astimezone(zone).date() - timedelta(entry["days_ago"])
        started_at = datetime.combine(day, time.fromisoformat(entry["time"]), zone)
        segments = tuple(_build_segments(entry["lines"]))
        yield Conversation(
            id=ConversationId(entry["id"]),
            created_at=started_at,
            started_at=started_at,
            finished_at=started_at + timedelta(seconds=segments[-1].end),
            source=SOURCE,
            status="processing",
            transcript_segments=segments,
        )


def _build_segments(lines: list[str]) -> Iterator[Segment]:
    start = 0.0
    for line in lines:
        speaker, text = line.split(": ", 1)
        end = round(start + len(text) * _SECONDS_PER_CHARACTER, 1)
        yield Segment(text=text, speaker=speaker, is_user=speaker == _OWNER, start=start, end=end)
        start = end


async def _add(
    deps: LibraryDeps, uid: UserId, conversation: Conversation, limiter: CapacityLimiter
) -> None:
    async with limiter:
        with suppress(Conflict):  # two requests at once, on two days
            await ingest(deps, uid, conversation)


async def _list_stored(deps: LibraryDeps, uid: UserId) -> list[Conversation]:
    """Return which sample conversations are there; the owner's own are never among them."""
    stored = await deps.stores.conversations.find_many(
        uid, [ConversationId(entry["id"]) for entry in (*_load_month(), *list_entries())]
    )
    return [conversation for conversation in stored if conversation.source == SOURCE]


@cache
def _load_month() -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(_MONTH_FILE.read_text(encoding="utf-8"))
    return entries


ROUTES = (load_sample_library, remove_sample_library)
