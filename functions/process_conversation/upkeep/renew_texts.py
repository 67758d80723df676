"""Renewal of texts that models wrote: conversations of a renamed person, or of new own names, are read again, so many a day.

Transcripts and search have a new name at once. Titles, summaries, memories and tasks follow within the budget of a user's
day, a step a minute; a later name takes the place of an earlier one, and what was read since is not read again.

Also called: backfill, derived data.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from functions.process_conversation.deps import RenewalDeps
from functions.process_conversation.upkeep.upkeep_schemas import RenewalIn
from shared import telemetry
from shared.data.store.paging import format_cursor
from shared.domain.conversations.conversation import (
    CONVERSATION_CHANGED_TOPIC,
    Conversation,
    content_hash,
)
from shared.domain.conversations.renewal import OWN_NAMES, Renewal
from shared.domain.errors import NotFound, QuotaExceeded
from shared.domain.ids import PersonId, UserId
from shared.domain.quota_day import find_day_end
from shared.edge.declare.routes import Call, route
from shared.ports import Tasks

TARGET = "renew_texts"
STEP_SIZE = 20
"""Conversations of one step; the sweep of the next minute begins the next."""


@route("POST", "/", "Texts about a renamed person are due", access="service", status=204)
async def on_renewal(deps: RenewalDeps, call: Call[RenewalIn]) -> None:
    telemetry.add_fields(uid=telemetry.hash_id(call.body.uid))
    renewal = await deps.stores.renewals.find(call.body.uid, call.body.subject)
    if renewal is not None:
        await renew(deps, call.body.uid, renewal)


async def schedule_renewal(tasks: Tasks, uid: UserId, subject: str, at: datetime) -> None:
    """Have the next step done at once, for each time `at` once."""
    name = f"renew-{telemetry.hash_id(uid)}-{subject}-{at:%Y%m%dT%H%M%S%f}"
    await tasks.create(TARGET, name, {"uid": uid, "subject": subject})


async def renew(deps: RenewalDeps, uid: UserId, renewal: Renewal) -> None:
    """Have the next conversations of a renewal read again, as far as today's budget goes.

    A repeat takes nothing twice: what was opened is only published once more.
    """
    store = deps.stores.renewals
    if not renewal.total:
        total = await deps.stores.conversations.count_of_person(uid, PersonId(renewal.subject))
        renewal = replace(renewal, total=total)
    found = await _list_next(deps, uid, renewal)
    for conversation in found:
        try:
            await _read_again(deps, uid, renewal, conversation)
        except QuotaExceeded:
            tomorrow = find_day_end(deps.clock.now())
            return await store.save(uid, replace(renewal, due_at=tomorrow))
        cursor = _build_cursor(renewal, conversation)
        renewal = replace(renewal, done=renewal.done + 1, cursor=cursor)
    next_step = replace(renewal, due_at=deps.clock.now())
    await store.save(uid, next_step, is_over=not found)
    return None


async def _list_next(deps: RenewalDeps, uid: UserId, renewal: Renewal) -> Sequence[Conversation]:
    """List the conversations of a step: all of a library in which its owner was marked."""
    conversations, after = deps.stores.conversations, renewal.cursor
    if renewal.subject == OWN_NAMES:
        return (await conversations.list_page(uid, limit=STEP_SIZE, after=after)).items
    person_id = PersonId(renewal.subject)
    return await conversations.list_of_person(uid, person_id, after=after, limit=STEP_SIZE)


def _build_cursor(renewal: Renewal, conversation: Conversation) -> str:
    if renewal.subject == OWN_NAMES:
        return format_cursor((conversation.created_at, conversation.id))
    return conversation.id


async def _read_again(
    deps: RenewalDeps, uid: UserId, renewal: Renewal, conversation: Conversation
) -> None:
    """Raises QuotaExceeded."""
    if not renewal.concerns(conversation):
        return
    stored = deps.stores.conversations
    if conversation.processed_hash is not None:
        await deps.quotas.take(uid, "renewals", now=deps.clock.now())
    try:
        if conversation.processed_hash is not None:
            await stored.reopen(uid, conversation.id, now=deps.clock.now())
        current = await stored.get_stored(uid, conversation.id)
    except NotFound:  # deleted meanwhile
        return
    event = {
        "uid": uid,
        "conversation_id": conversation.id,
        "content_hash": content_hash(current),
    }
    await deps.events.publish(CONVERSATION_CHANGED_TOPIC, event)


RENEWAL_ROUTES = (on_renewal,)
