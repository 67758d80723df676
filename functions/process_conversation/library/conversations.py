"""Conversation routes: hand in, read, edit, reprocess and delete one."""

from dataclasses import replace
from functools import partial
from typing import Any

from starlette.responses import Response

from functions.process_conversation.deps import IntegrationDeps, LibraryDeps
from functions.process_conversation.library.conversation_schemas import (
    AcceptedOut,
    ConversationIn,
    ConversationOut,
)
from functions.process_conversation.library.ingestion import ingest
from functions.process_conversation.library.reprocessing import (
    RETRY_AFTER_S,
    STILL_PROCESSING,
    start_reprocessing,
    wait_until_processed,
)
from functions.process_conversation.library.schemas import (
    ConversationChangeIn,
    ReprocessQuery,
    StarredQuery,
    TitleIn,
)
from functions.process_conversation.library.validation import validate_conversation
from functions.process_conversation.processing.own_speakers import find_named_people
from shared.data.long_transcripts import run_beside_the_loop
from shared.domain.conversation import Conversation, Speaker
from shared.domain.ids import ConversationId, PersonId, UserId, is_id
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.problems import build_problem
from shared.edge.declare.routes import Call, route

MAX_BODY_BYTES = 8_388_608
"""Room for the longest transcript; parsed, it takes up to 50 times as much memory."""
MAX_PEOPLE_LOOKUPS = 100
"""People looked up for one conversation: each is a read that costs."""


@route(
    "POST",
    "/v1/conversations",
    "Hand in a recorded conversation; it is processed afterwards",
    status=202,
    errors=(400, 401, 404, 409, 413, 415, 422),
    max_bytes=MAX_BODY_BYTES,
)
async def add_conversation(deps: LibraryDeps, call: Call[ConversationIn]) -> AcceptedOut:
    conversation = call.body.to_conversation(deps.new_id())
    return AcceptedOut.model_validate(await hand_in(deps, call.uid, conversation))


async def hand_in(deps: IntegrationDeps, uid: UserId, conversation: Conversation) -> Conversation:
    """Store a recorded conversation once, with its people and its place; return what is stored.

    Raises Invalid, TooLarge, QuotaExceeded, and Conflict for other content under its id.
    """
    validate_conversation(conversation, deps.clock.now())
    named_conversation = await _resolve_speakers(deps, uid, conversation)
    return await ingest(deps, uid, await _add_place(deps, uid, named_conversation))


@route(
    "GET",
    "/v1/conversations/{conversation_id}",
    "Read a conversation with its transcript",
    errors=(401, 404),
)
async def get_conversation(deps: LibraryDeps, call: Call) -> ConversationOut:
    return await _load_whole(deps, call)


@route(
    "PATCH",
    "/v1/conversations/{conversation_id}",
    "Write over what was made of a conversation",
    errors=(400, 401, 404, 413, 415, 422),
    max_bytes=65_536,
)
async def edit_conversation(deps: LibraryDeps, call: Call[ConversationChangeIn]) -> ConversationOut:
    edits = call.body.model_dump(exclude_none=True, exclude={"starred"})
    if edits:
        await deps.stores.conversations.edit(call.uid, _path_id(call), **edits)
    if call.body.starred is not None:
        await _star(deps, call, starred=call.body.starred)
    return await _load_whole(deps, call)


async def _load_whole(deps: LibraryDeps, call: Call[Any, Any]) -> ConversationOut:
    conversation = await deps.stores.conversations.get(call.uid, _path_id(call))
    return await run_beside_the_loop([conversation], partial(ConversationOut.of, conversation))


@route(
    "PATCH",
    "/v1/conversations/{conversation_id}/title",
    "Give a conversation another title",
    errors=(401, 404, 422),
    is_query_accepted=True,
)
async def rename_conversation(deps: LibraryDeps, call: Call[TitleIn]) -> OkOut:
    await deps.stores.conversations.edit(call.uid, _path_id(call), title=call.body.title)
    return OkOut()


@route(
    "PATCH",
    "/v1/conversations/{conversation_id}/starred",
    "Star a conversation, or take the star back",
    errors=(401, 404, 422),
)
async def star_conversation(deps: LibraryDeps, call: Call[None, StarredQuery]) -> OkOut:
    await _star(deps, call, starred=call.query.starred)
    return OkOut()


async def _star(deps: LibraryDeps, call: Call[Any, Any], *, starred: bool) -> None:
    now = deps.clock.now()
    await deps.stores.conversations.star(call.uid, _path_id(call), starred=starred, now=now)


@route(
    "POST",
    "/v1/conversations/{conversation_id}/reprocess",
    "Have the models read a conversation again, and wait until they have",
    errors=(401, 404, 409, 422, 503),
)
async def reprocess_conversation(
    deps: LibraryDeps, call: Call[None, ReprocessQuery]
) -> ConversationOut | Response:
    started = await start_reprocessing(
        deps, call.uid, _path_id(call), app_id=call.query.app_id, language=call.query.language_code
    )
    if await wait_until_processed(deps, call.uid, started):
        return await _load_whole(deps, call)
    return build_problem(503, STILL_PROCESSING, headers={"Retry-After": str(RETRY_AFTER_S)})


@route(
    "DELETE",
    "/v1/conversations/{conversation_id}",
    "Delete a conversation and what was derived from it",
    status=204,
    errors=(401, 404),
)
async def delete_conversation(deps: LibraryDeps, call: Call) -> None:
    """Delete the document, and so every search hit, at once; the trigger removes what was derived."""
    text_bytes = await deps.stores.conversations.delete(call.uid, _path_id(call))
    await deps.quotas.give_back(call.uid, "stored_bytes", text_bytes, now=deps.clock.now())
    await deps.stores.merges.finish(call.uid, _path_id(call))


async def _add_place(
    deps: IntegrationDeps, uid: UserId, conversation: Conversation
) -> Conversation:
    """Return it with the place where the owner was meanwhile, if it came without one."""
    if conversation.geolocation is not None:
        return conversation
    profile = await deps.stores.profiles.get(uid)
    place = profile.find_place(conversation.started_at, conversation.finished_at)
    return replace(conversation, geolocation=place)


async def _resolve_speakers(
    deps: IntegrationDeps, uid: UserId, conversation: Conversation
) -> Conversation:
    """Name the speakers that are people of the owner, by the recorder's id or by the same name.

    Nobody becomes a person by being named: a transcript may name anyone.
    """
    segments = conversation.transcript_segments
    person_ids = {
        s.speaker: PersonId(s.person_id) for s in segments if s.person_id and is_id(s.person_id)
    }
    names = await deps.stores.people.load_names(
        uid, sorted(set(person_ids.values()))[:MAX_PEOPLE_LOOKUPS]
    )
    speakers = {
        label: Speaker(name=names[person_id], person_id=person_id)
        for label, person_id in person_ids.items()
        if person_id in names
    } | await find_named_people(deps.stores, uid, conversation)
    present_ids = {speaker.person_id for speaker in speakers.values() if speaker.person_id}
    return replace(conversation, speakers=speakers, person_ids=tuple(sorted(present_ids)))


def _path_id(call: Call[Any, Any]) -> ConversationId:
    return ConversationId(call.path["conversation_id"])


ROUTES = (
    add_conversation,
    get_conversation,
    edit_conversation,
    rename_conversation,
    star_conversation,
    reprocess_conversation,
    delete_conversation,
)
