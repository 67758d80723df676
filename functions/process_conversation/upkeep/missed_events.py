"""Missed events: conversations that clients stored or changed by themselves, and whose event was lost, looked for each hour.

What our routes store is announced, and the sweep of each minute finds it. Nobody announces what a client writes to the
store. Who processes it stamps `listed_at`, so what lacks it was never processed; a completed conversation with another
content than it was made from was changed since. Looked at is what began lately (`created_at`), and what its client says
it wrote lately (`written_at`, which the rules let be the store's own time alone).

Also called: reconciliation, missed trigger.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

from functions.process_conversation.deps import SweepDeps
from functions.process_conversation.processing.trigger import build_change_event
from shared import telemetry
from shared.data.store.codec import MalformedDocument, load
from shared.data.store.paging import iter_documents
from shared.domain.conversations.conversation import (
    CONVERSATION_CHANGED_TOPIC,
    Conversation,
    content_hash,
)
from shared.domain.ids import UserId
from shared.domain.store.documents import Document, Order, Query, Where
from shared.ports import Tasks

SEARCH_TARGET = "sweep"
USERS_A_TASK = 200
USERS_AT_ONCE = 20
RECENT = timedelta(hours=26)
"""How long ago it may have begun or been written: a device may have been offline for a day."""
PAGE_SIZE = 10
"""Conversations that are held at once: each may have a megabyte."""
MAX_FOUND = 100
"""Of one user in one search: the next is an hour later."""


async def schedule_search(tasks: Tasks, now: datetime, *, after: str | None = None) -> None:
    """Create the task of an hour, for the users behind `after`: sweeps of the same hour create one."""
    body = {"searches": True, "after": after}
    await tasks.create(SEARCH_TARGET, f"search-{now:%Y%m%dT%H}-{after or ''}", body)


async def find_missed(deps: SweepDeps, *, after: str | None) -> None:
    """Publish what was missed of a page of users; another task goes on behind them meanwhile."""
    now = deps.clock.now()
    users, following = await deps.user_list.list_users(USERS_A_TASK, after=after)
    if following is not None:
        await schedule_search(deps.tasks, now, after=following)
    room = asyncio.Semaphore(USERS_AT_ONCE)
    found = await asyncio.gather(*(_publish_missed(deps, uid, now, room) for uid in users))
    telemetry.add_fields(users=len(users), conversations=sum(found))


async def _publish_missed(
    deps: SweepDeps, uid: UserId, now: datetime, room: asyncio.Semaphore
) -> int:
    published: set[str] = set()
    async with room:
        for recent in build_recent_queries(uid, now):
            async for document in iter_documents(deps.documents, recent):
                if document.path in published or not _is_missed(document):
                    continue
                if event := build_change_event(document.path, old=None, new=document.fields):
                    await deps.events.publish(CONVERSATION_CHANGED_TOPIC, event)
                    published.add(document.path)
                if len(published) == MAX_FOUND:
                    return MAX_FOUND
    return len(published)


def build_recent_queries(uid: UserId, now: datetime) -> Sequence[Query]:
    """One conversation may be in both."""
    return [
        Query(
            collection=f"users/{uid}/conversations",
            where=(Where(time, ">", now - RECENT), Where(time, "<=", now)),
            order_by=(Order(time, "desc"),),
            limit=PAGE_SIZE,
        )
        for time in ("created_at", "written_at")
    ]


def _is_missed(document: Document) -> bool:
    if document.fields.get("listed_at") is None:
        return True
    try:
        conversation = load(Conversation, document)
    except MalformedDocument:
        return False
    if conversation.status != "completed" or conversation.is_marked_since:
        return False  # it is on its way, or a renewal has it read again
    made_from = conversation.processed_hash
    return made_from is not None and made_from != content_hash(conversation)
