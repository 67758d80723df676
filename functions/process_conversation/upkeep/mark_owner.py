"""Marking of the owner in stored conversations, by names that they say are their own."""

from functions.process_conversation.deps import MarkingDeps
from functions.process_conversation.processing.own_speakers import mark_stored_owner
from functions.process_conversation.upkeep.upkeep_schemas import MarkOwnerIn
from shared import telemetry
from shared.data.conversations.conversations import IncompleteTranscript
from shared.domain.conversations.conversation import Conversation
from shared.domain.errors import NotFound
from shared.domain.ids import UserId
from shared.edge.declare.routes import Call, route
from shared.library.own_names_schedule import schedule_marking

PAGE_SIZE = 25


@route(
    "POST", "/", "The owner is to be marked in stored conversations", access="service", status=204
)
async def on_marking(deps: MarkingDeps, call: Call[MarkOwnerIn]) -> None:
    """Mark the owner in a page of conversations, then have the next page done.

    A repeat changes nothing; names that were changed since leave the rest to their own task.
    """
    uid = call.body.uid
    profile = await deps.stores.profiles.get(uid)
    if profile.own_names_set_at != call.body.set_at:
        return
    page = await deps.stores.conversations.list_page(uid, limit=PAGE_SIZE, after=call.body.cursor)
    count = 0
    for conversation in page.items:
        count += await _mark(deps, uid, conversation, profile.own_names)
    telemetry.add_fields(conversations_marked=count)
    if page.next is not None:
        await schedule_marking(deps.tasks, uid, profile, cursor=page.next)


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
