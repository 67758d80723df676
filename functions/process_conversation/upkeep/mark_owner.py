"""Marking of the owner in stored conversations, by names that they say are their own.

It asks no model: a library is marked in hours. What models wrote of it follows by a renewal, within its budget.
"""

from dataclasses import replace
from datetime import timedelta

from functions.process_conversation.deps import MarkingDeps
from functions.process_conversation.processing.own_speakers import mark_stored_owner
from functions.process_conversation.upkeep.renew_texts import schedule_renewal
from functions.process_conversation.upkeep.upkeep_schemas import MarkOwnerIn
from shared import telemetry
from shared.data.conversations.conversations import IncompleteTranscript
from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.renewal import OWN_NAMES, Renewal
from shared.domain.errors import NotFound
from shared.domain.ids import UserId
from shared.edge.declare.routes import Call, route
from shared.library.own_names_schedule import schedule_marking

PAGE_SIZE = 25
MAX_AN_HOUR = 2_000
"""Conversations of a user that are looked at in an hour, whose trigger and store others share."""


@route(
    "POST", "/", "The owner is to be marked in stored conversations", access="service", status=204
)
async def on_marking(deps: MarkingDeps, call: Call[MarkOwnerIn]) -> None:
    """Mark the owner in a page of conversations, then have the next page done.

    A repeat changes nothing; names that were changed since leave the rest to their own task.
    """
    uid, cursor = call.body.uid, call.body.cursor
    profile = await deps.stores.profiles.get(uid)
    if profile.own_names_set_at != call.body.set_at:
        return
    page = await deps.stores.conversations.list_page(uid, limit=PAGE_SIZE, after=cursor)
    for conversation in page.items:
        if await _mark(deps, uid, conversation, profile.own_names):
            telemetry.count(conversations_marked=1)
    done = await _show_progress(deps, call.body, len(page.items), page.next)
    if page.next is not None:
        at = call.body.set_at + timedelta(hours=done // MAX_AN_HOUR)
        await schedule_marking(deps.tasks, uid, profile, cursor=page.next, at=at)
    return


async def _show_progress(
    deps: MarkingDeps, body: MarkOwnerIn, count: int, cursor: str | None
) -> int:
    """Tell the owner how far it is, and return it; a repeated page counts once. The last page begins the renewal."""
    uid, renewals = body.uid, deps.stores.renewals
    known = await renewals.find(uid, OWN_NAMES)
    if known is None or known.requested_at != body.set_at:
        if body.cursor is not None:
            return 0
        total = await deps.stores.conversations.count_all(uid)
        known = Renewal(subject=OWN_NAMES, requested_at=body.set_at, total=total)
        await deps.stores.documents.write(renewals.build_request(uid, known))
    if known.due_at is None and known.cursor == body.cursor:
        done = known.done + count if cursor else 0
        due_at = None if cursor else deps.clock.now()
        known = replace(known, done=done, cursor=cursor, due_at=due_at)
        await renewals.save(uid, known, is_over=known.total == 0)
        if due_at is not None:
            await schedule_renewal(deps.tasks, uid, OWN_NAMES, body.set_at)
    return known.done


async def _mark(
    deps: MarkingDeps, uid: UserId, stored: Conversation, own_names: tuple[str, ...]
) -> bool:
    """Return whether the speakers changed. Raises Unavailable: call again."""
    try:
        whole = await deps.stores.conversations.get(uid, stored.id)
    except (IncompleteTranscript, NotFound):
        return False  # it is deleted, or its recorder is still writing it
    now = deps.clock.now()
    return await mark_stored_owner(deps.stores, uid, whole, own_names, now=now, is_read_later=True)


MARKING_ROUTES = (on_marking,)
