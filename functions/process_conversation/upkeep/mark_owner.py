"""Marking of the owner in stored conversations, by names that they say are their own."""

from dataclasses import replace

from functions.process_conversation.deps import MarkingDeps
from functions.process_conversation.processing.own_speakers import mark_stored_owner
from functions.process_conversation.upkeep.upkeep_schemas import MarkOwnerIn
from shared import telemetry
from shared.data.conversations.conversations import IncompleteTranscript
from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.renewal import OWN_NAMES, Renewal
from shared.domain.errors import NotFound, QuotaExceeded
from shared.domain.ids import UserId
from shared.domain.quota_day import find_day_end
from shared.edge.declare.routes import Call, route
from shared.library.own_names_schedule import schedule_marking

PAGE_SIZE = 25


@route(
    "POST", "/", "The owner is to be marked in stored conversations", access="service", status=204
)
async def on_marking(deps: MarkingDeps, call: Call[MarkOwnerIn]) -> None:
    """Mark the owner in a page of conversations, then have the next page done.

    What is marked is read again: beyond the budget of a day the rest is left to the next one. A repeat
    changes nothing; names that were changed since leave the rest to their own task.
    """
    uid, cursor = call.body.uid, call.body.cursor
    profile = await deps.stores.profiles.get(uid)
    if profile.own_names_set_at != call.body.set_at:
        return None
    page = await deps.stores.conversations.list_page(uid, limit=PAGE_SIZE, after=cursor)
    try:
        for conversation in page.items:
            if await _mark(deps, uid, conversation, profile.own_names):
                telemetry.count(conversations_marked=1)
                await deps.quotas.take(uid, "renewals", now=deps.clock.now())
    except QuotaExceeded:
        at = find_day_end(deps.clock.now())
        await schedule_marking(deps.tasks, uid, profile, cursor=cursor, at=at)
        return await _show_progress(deps, call.body, 0, cursor, is_over=False)
    if page.next is not None:
        await schedule_marking(deps.tasks, uid, profile, cursor=page.next)
    count, is_over = len(page.items), page.next is None
    return await _show_progress(deps, call.body, count, page.next, is_over=is_over)


async def _show_progress(
    deps: MarkingDeps, body: MarkOwnerIn, count: int, cursor: str | None, *, is_over: bool
) -> None:
    """Tell the owner how far it is; a repeated page counts once."""
    uid, renewals = body.uid, deps.stores.renewals
    known = await renewals.find(uid, OWN_NAMES)
    if known is None or known.requested_at != body.set_at:
        if body.cursor is not None:
            return
        total = await deps.stores.conversations.count_all(uid)
        known = Renewal(subject=OWN_NAMES, requested_at=body.set_at, total=total)
        await deps.stores.documents.write(renewals.build_request(uid, known))
    if known.cursor == body.cursor:
        done = replace(known, done=known.done + count, cursor=cursor)
        await renewals.save(uid, done, is_over=is_over)


async def _mark(
    deps: MarkingDeps, uid: UserId, stored: Conversation, own_names: tuple[str, ...]
) -> bool:
    """Return whether the speakers changed. Raises Unavailable: call again."""
    try:
        whole = await deps.stores.conversations.get(uid, stored.id)
    except (IncompleteTranscript, NotFound):
        return False  # it is deleted, or its recorder is still writing it
    return await mark_stored_owner(deps.stores, uid, whole, own_names, now=deps.clock.now())


MARKING_ROUTES = (on_marking,)
