"""Routes of sealed chats: ciphertexts, sync, messages that are sent again, pairing, and the cache that is forgotten."""

from contextlib import suppress

from starlette.responses import Response

from functions.chat.api.pairing_schemas import (
    PairingIdIn,
    PairingIn,
    PairingOut,
    WrappedKeysOut,
    to_keys_out,
)
from functions.chat.api.question_fingerprint import compute_fingerprint
from functions.chat.api.question_schemas import SendQuery
from functions.chat.api.resend_schemas import ResendIn
from functions.chat.api.run_routes import answer_question
from functions.chat.api.sealed_schemas import (
    CiphertextsIn,
    CiphertextsOut,
    CiphertextsQuery,
    SealedChatOut,
    SyncAckIn,
    SyncOut,
    SyncQuery,
    to_chat_out,
    to_message_out,
    to_sync_out,
)
from functions.chat.deps import ChatDeps
from functions.chat.sealed import cached_chats, sync
from functions.chat.turn.idempotency import WaitingKey
from shared.data.store.paging import parse_cursor
from shared.domain.chats.pairing import PAIRING_TTL
from shared.domain.errors import AlreadyExists, NotFound
from shared.domain.ids import RunId, SessionId
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.problems import build_problem
from shared.edge.declare.routes import Call, route

MAX_CIPHERTEXTS_BYTES = 8_388_608
MAX_RESEND_BYTES = 16_777_216
"""More than the texts may have, each character escaped."""
NOTHING_WAITS = "No question waits under this id. Please ask it again."
OTHER_QUESTION = "This is not the question that waits under this id."


@route(
    "POST",
    "/v2/messages/{id}/resend",
    "Send a sealed chat's messages for a question that waits for them, and stream the answer as a UI "
    "message stream",
    errors=(404, 409, 413, 423, 429, 503),
    media_type="text/event-stream",
    max_bytes=MAX_RESEND_BYTES,
)
async def resend_history(deps: ChatDeps, call: Call[ResendIn]) -> Response:
    """Cache the messages as they are, and answer the question by the run that it waits for.

    A repeat streams that run.
    """
    run_id, now = RunId(call.path["id"]), deps.clock.now()
    run = await deps.stores.runs.get(call.uid, run_id, now)
    waiting = run or await deps.stores.history_requests.find(call.uid, run_id)
    if waiting is None:
        raise NotFound(NOTHING_WAITS)
    query = SendQuery(chat_session_id=waiting.session_id, protocol="ui-message-stream")
    fingerprint = compute_fingerprint(call.body.question, query)
    if waiting.fingerprint != fingerprint:
        return build_problem(422, OTHER_QUESTION)
    key = WaitingKey(waiting_run_id=run_id, session_id=waiting.session_id, fingerprint=fingerprint)
    if run is None:
        await _cache(deps, call, run_id, waiting.session_id)
    return await answer_question(deps, call, call.body.question, query, key)


async def _cache(
    deps: ChatDeps, call: Call[ResendIn], run_id: RunId, session_id: SessionId
) -> None:
    """Cache what was sent, unless its question is being answered already."""
    now = deps.clock.now()
    messages = call.body.to_messages(session_id, run_id, now)
    embeds = call.body.to_embeds(session_id, now)
    await deps.quotas.take(call.uid, "ingested_bytes", call.body.count_chars(), now=now)
    with suppress(AlreadyExists):
        await cached_chats.cache_again(deps, call.uid, run_id, session_id, messages, embeds)


@route(
    "PUT",
    "/v2/chat-sessions/{id}/ciphertexts",
    "Store the next versions of a sealed chat and of its messages, all or none",
    errors=(404, 409, 413, 429),
    max_bytes=MAX_CIPHERTEXTS_BYTES,
)
async def put_ciphertexts(deps: ChatDeps, call: Call[CiphertextsIn]) -> SealedChatOut:
    chat_id, now = SessionId(call.path["id"]), deps.clock.now()
    messages = call.body.to_messages(chat_id)
    chat = call.body.chat.to_new() if call.body.chat else None
    await deps.quotas.take(call.uid, "ingested_bytes", call.body.count_bytes(), now=now)
    return to_chat_out(await deps.stores.sealed_chats.put(call.uid, chat_id, chat, messages, now))


@route(
    "GET",
    "/v2/chat-sessions/{id}/ciphertexts",
    "Read a sealed chat and its messages as its clients stored them",
    errors=(404,),
)
async def list_ciphertexts(deps: ChatDeps, call: Call[None, CiphertextsQuery]) -> CiphertextsOut:
    chat_id, query = SessionId(call.path["id"]), call.query
    chat = await deps.stores.sealed_chats.get(call.uid, chat_id)
    page = await deps.stores.sealed_chats.list_messages(
        call.uid, chat_id, limit=query.limit, after=parse_cursor(query.cursor)
    )
    messages = [to_message_out(message) for message in page.items]
    return CiphertextsOut(chat=to_chat_out(chat), messages=messages, next_cursor=page.next)


@route("GET", "/v2/sync", "Read sealed chats in three phases, page by page")
async def sync_chats(deps: ChatDeps, call: Call[None, SyncQuery]) -> SyncOut:
    page = await sync.read_page(deps, call.uid, call.query.phase, call.query.cursor)
    return to_sync_out(page)


@route("POST", "/v2/sync/ack", "Say that a device has finished the third phase")
async def finish_sync(deps: ChatDeps, call: Call[SyncAckIn]) -> OkOut:
    await deps.stores.sync_cache.clear(call.uid)
    return OkOut()


@route(
    "DELETE",
    "/v2/sealed-cache",
    "Forget what the server can still read of sealed chats; their ciphertexts stay",
)
async def forget_cache(deps: ChatDeps, call: Call) -> OkOut:
    await cached_chats.forget_all(deps, call.uid)
    return OkOut()


@route(
    "PUT",
    "/v2/sealed-pairing",
    "Leave the wrapped keys of sealed chats for another browser, in the place of an earlier pairing",
)
async def start_pairing(deps: ChatDeps, call: Call[PairingIn]) -> PairingOut:
    pairing = call.body.to_pairing(deps.clock.now(), PAIRING_TTL)
    await deps.stores.pairings.start(call.uid, pairing)
    return PairingOut(expires_at=pairing.expires_at)


@route(
    "DELETE",
    "/v2/sealed-pairing",
    "End the pairing that waits: its code serves nobody",
)
async def end_pairing(deps: ChatDeps, call: Call) -> OkOut:
    await deps.stores.pairings.end(call.uid)
    return OkOut()


@route(
    "POST",
    "/v2/sealed-pairing/take",
    "Take the wrapped keys that another browser left: once, within five minutes",
    errors=(404,),
)
async def take_pairing(deps: ChatDeps, call: Call[PairingIdIn]) -> WrappedKeysOut:
    now = deps.clock.now()
    return to_keys_out(await deps.stores.pairings.take(call.uid, call.body.id, now))


ROUTES = (
    resend_history,
    put_ciphertexts,
    list_ciphertexts,
    sync_chats,
    finish_sync,
    forget_cache,
    start_pairing,
    end_pairing,
    take_pairing,
)
