"""Edits of a transcript over HTTP: the words of one segment, and who spoke several."""

from dataclasses import replace
from functools import partial
from typing import Any

from functions.library.conversations.edit_schemas import AssignmentIn, SegmentTextIn
from shared.data.conversations.long_transcripts import run_beside_the_loop
from shared.domain.conversations.assignments import assign_segments
from shared.domain.conversations.conversation import Conversation, Speaker
from shared.domain.errors import CallerError, Invalid, NotFound
from shared.domain.ids import ConversationId, UserId
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.routes import Call, route
from shared.library.conversation_schemas import ConversationOut
from shared.library.deps import LibraryDeps
from shared.library.validate_conversation import validate_conversation

MAX_TEXT_BODY_BYTES = 1_048_576
"""Room for the longest segment with every character escaped."""
MAX_ASSIGNMENT_BODY_BYTES = 4_194_304
"""Room for the ids of all segments of the longest transcript."""


@route(
    "PATCH",
    "/v1/conversations/{conversation_id}/segments/text",
    "Correct the words of a segment; the conversation is processed again",
    errors=(400, 401, 404, 409, 413, 415, 422),
    max_bytes=MAX_TEXT_BODY_BYTES,
)
async def change_text(deps: LibraryDeps, call: Call[SegmentTextIn]) -> OkOut:
    before = await _load(deps, call)
    after = _replace_text(before, call.body.segment_id, call.body.text)
    validate_conversation(after, deps.clock.now())
    await _store_text(deps, call.uid, before, after)
    return OkOut()


async def _store_text(
    deps: LibraryDeps, uid: UserId, before: Conversation, after: Conversation
) -> None:
    """Store other words; what they add counts towards the owner's quota. Raises QuotaExceeded."""
    now, quotas = deps.clock.now(), deps.quotas
    added_bytes = after.count_text_bytes() - before.count_text_bytes()
    if added_bytes > 0:
        await quotas.take(uid, "stored_bytes", added_bytes, now=now)
    try:
        await deps.stores.transcript_edits.replace_text(uid, before, after, now=now)
    except CallerError:
        await quotas.give_back(uid, "stored_bytes", max(added_bytes, 0), now=now)
        raise
    await quotas.give_back(uid, "stored_bytes", max(-added_bytes, 0), now=now)


def _replace_text(conversation: Conversation, segment_id: str, text: str) -> Conversation:
    """Return it with other words in a segment, whose translations no longer hold. Raises NotFound."""
    ids = conversation.segment_ids
    if segment_id not in ids:
        raise NotFound("Segment not found")
    segments = list(conversation.transcript_segments)
    place = ids.index(segment_id)
    segments[place] = replace(segments[place], text=text, translations=())
    return replace(conversation, transcript_segments=tuple(segments))


@route(
    "PATCH",
    "/v1/conversations/{conversation_id}/segments/assign-bulk",
    "Say who spoke some segments; without a value, nobody is known",
    errors=(400, 401, 404, 409, 413, 415, 422),
    max_bytes=MAX_ASSIGNMENT_BODY_BYTES,
)
async def assign_bulk(deps: LibraryDeps, call: Call[AssignmentIn]) -> ConversationOut:
    speaker = await _resolve_speaker(deps, call.uid, call.body)
    whole = await _load(deps, call)
    changed = await deps.stores.transcript_edits.assign(
        call.uid,
        whole,
        lambda current: assign_segments(current, call.body.segment_ids, speaker),
        now=deps.clock.now(),
    )
    shown = replace(changed, photos=whole.photos)
    return await run_beside_the_loop([shown], partial(ConversationOut.of, shown))


async def _resolve_speaker(deps: LibraryDeps, uid: UserId, body: AssignmentIn) -> Speaker:
    """Return the speaker whom a body names, which may be nobody. Raises NotFound and Invalid."""
    if body.assign_type == "is_user":
        if body.value not in ("true", "false", None):
            raise Invalid("The value must be true or false.")
        return Speaker(is_user=body.value == "true")
    if not body.value:
        return Speaker()
    person = await deps.stores.people.get(uid, body.value)
    return Speaker(name=person.name, person_id=person.id)


async def _load(deps: LibraryDeps, call: Call[Any]) -> Conversation:
    conversation_id = ConversationId(call.path["conversation_id"])
    return await deps.stores.conversations.get(call.uid, conversation_id)


ROUTES = (change_text, assign_bulk)
