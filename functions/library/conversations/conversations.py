"""Conversation routes: hand in, read, edit, reprocess and delete one."""

from typing import Any

from starlette.responses import Response

from functions.library.conversations.deletion import DeletionQuery, delete
from functions.library.conversations.edit_schemas import (
    ConversationChangeIn,
    ReprocessQuery,
    StarredQuery,
    TitleIn,
)
from functions.library.conversations.reprocessing import (
    RETRY_AFTER_S,
    STILL_PROCESSING,
    start_reprocessing,
    wait_until_processed,
)
from shared.data.conversations.long_transcripts import run_beside_the_loop
from shared.domain.conversations.conversation import hash_words
from shared.domain.ids import ConversationId
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.problems import build_problem
from shared.edge.declare.routes import Call, CreatingCall, route
from shared.library.conversation_schemas import (
    AcceptedOut,
    AudioFileOut,
    ConversationIn,
    ConversationWithSoundOut,
)
from shared.library.deps import LibraryDeps
from shared.library.hand_in import hand_in
from shared.library.live_conversations import ask_for_end

MAX_BODY_BYTES = 8_388_608
"""Room for the longest transcript; parsed, it takes up to 50 times as much memory."""


@route(
    "POST",
    "/v1/conversations",
    "Hand in a recorded conversation; it is processed afterwards",
    status=202,
    errors=(400, 401, 404, 409, 413, 415, 422),
    max_bytes=MAX_BODY_BYTES,
)
async def add_conversation(deps: LibraryDeps, call: CreatingCall[ConversationIn]) -> AcceptedOut:
    if call.body.finishes_recording:
        live = await ask_for_end(deps, call.uid)
        return AcceptedOut(id=live.id, status="in_progress")
    conversation = call.body.to_conversation(call.operation.name)
    return AcceptedOut.model_validate(await hand_in(deps, call.uid, conversation))


@route(
    "GET",
    "/v1/conversations/{conversation_id}",
    "Read a conversation with its transcript",
    errors=(401, 404),
)
async def get_conversation(deps: LibraryDeps, call: Call) -> ConversationWithSoundOut:
    return await _load_whole(deps, call)


@route(
    "PATCH",
    "/v1/conversations/{conversation_id}",
    "Write over what was made of a conversation",
    errors=(400, 401, 404, 413, 415, 422),
    max_bytes=65_536,
)
async def edit_conversation(
    deps: LibraryDeps, call: Call[ConversationChangeIn]
) -> ConversationWithSoundOut:
    edits = call.body.model_dump(exclude_none=True, exclude={"starred", "discarded"})
    if edits:
        await deps.stores.conversations.edit(call.uid, _path_id(call), **edits)
    if call.body.starred is not None:
        await _star(deps, call, starred=call.body.starred)
    if call.body.discarded is not None:
        await deps.stores.conversations.discard(
            call.uid, _path_id(call), discarded=call.body.discarded, now=deps.clock.now()
        )
    return await _load_whole(deps, call)


async def _load_whole(deps: LibraryDeps, call: Call[Any, Any]) -> ConversationWithSoundOut:
    conversation = await deps.stores.conversations.get(call.uid, _path_id(call))
    recordings = await deps.stores.recordings.list_of_conversation(call.uid, conversation.id)
    kept = [AudioFileOut.of(each) for each in recordings if each.parts]
    return await run_beside_the_loop(
        [conversation],
        lambda: ConversationWithSoundOut.of(
            conversation, audio_files=kept, words_hash=hash_words(conversation)
        ),
    )


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
) -> ConversationWithSoundOut | Response:
    started = await start_reprocessing(
        deps, call.uid, _path_id(call), app_id=call.query.app_id, language=call.query.language_code
    )
    if await wait_until_processed(deps, call.uid, started):
        return await _load_whole(deps, call)
    return build_problem(503, STILL_PROCESSING, headers={"Retry-After": str(RETRY_AFTER_S)})


@route(
    "DELETE",
    "/v1/conversations/{conversation_id}",
    "Delete a conversation; its memories and tasks go along if that is asked for",
    status=204,
    errors=(401, 404),
)
async def delete_conversation(deps: LibraryDeps, call: Call[None, DeletionQuery]) -> None:
    await delete(deps, call.uid, _path_id(call), call.query)


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
