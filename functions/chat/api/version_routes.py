"""Routes of versions: edit a question, ask for another answer, and show the one that is wanted."""

import hashlib
from functools import partial
from typing import Annotated

from pydantic import Field
from pydantic_core import to_json
from starlette.responses import Response

from functions.chat.api.chat_query import RepeatHeaders
from functions.chat.api.run_streams import build_ui_stream
from functions.chat.api.session_schemas import SessionOut, to_session_out
from functions.chat.deps import ChatDeps
from functions.chat.runs.journal import Journal
from functions.chat.runs.run_events import stream_events
from functions.chat.sessions.versions import load_wanted, show_version
from functions.chat.turn.answer_turn import answer_turn
from functions.chat.turn.idempotency import DuplicateQuestion, IdempotencyKey
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.prepared_turn import PreparedTurn
from functions.chat.turn.question import Question
from shared import telemetry
from shared.domain.chats.custom_agent import AgentRole
from shared.domain.ids import MessageId, SessionId
from shared.edge.declare.problems import build_problem
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire
from shared.resilience.retry import retry


class VersionIn(Wire):
    """Another version of a message: of a question with its new `text`, of an answer without.

    `model` is as in a question.
    """

    text: str | None = None
    model: AgentRole | None = None


class ShownVersionIn(Wire):
    """The id of a message; the versions that lead to it are shown."""

    message_id: Annotated[str, Field(min_length=1, max_length=66)]


MAX_VERSION_BYTES = 1_048_576


@route(
    "POST",
    "/v2/messages/{id}/versions",
    "Edit a question or ask for another answer, and stream it as a UI message stream",
    headers=RepeatHeaders,
    errors=(404, 409, 423, 429, 503),
    media_type="text/event-stream",
    max_bytes=MAX_VERSION_BYTES,
)
async def add_version(deps: ChatDeps, call: Call[VersionIn]) -> Response:
    """Answer in a branch of its own, which the chat then shows; what was there stays.

    With an Idempotency-Key, a repeat streams the run that the first request began.
    """
    key = _parse_idempotency_key(call)
    try:
        turn = await _prepare_version(deps, call, key)
    except DuplicateQuestion as duplicate:
        run = duplicate.run
        if key is None or run.fingerprint != key.fingerprint:
            return build_problem(422, "This idempotency key came with another question before.")
        return build_ui_stream(run.id, stream_events(deps, call.uid, run.id))
    telemetry.add_fields(run_id=turn.run_id)
    journal = Journal()
    events = stream_events(deps, call.uid, turn.run_id, journal=journal)
    return build_ui_stream(turn.run_id, events, work=lambda: answer_turn(deps, turn, journal))


async def _prepare_version(
    deps: ChatDeps, call: Call[VersionIn], key: IdempotencyKey | None
) -> PreparedTurn:
    wanted = await load_wanted(deps, call.uid, MessageId(call.path["id"]), call.body.text)
    question = Question(
        wanted.text,
        wanted.session.app_id,
        wanted.session.id,
        version=wanted,
        models=[call.body.model] if call.body.model else [],
        client_language=call.language,
        can_confirm=True,
    )
    prepare = partial(prepare_turn, deps, call.uid, question, key=key)
    with telemetry.measure_stage("prepare"):
        return await retry(prepare, sleep=deps.clock.sleep)


def _parse_idempotency_key(call: Call[VersionIn]) -> IdempotencyKey | None:
    """Read the key that repeats of this request share."""
    text = call.headers.get("idempotency-key")
    if not text:
        return None
    wish = ["version", call.path["id"], call.body.text]
    if call.body.model:
        wish.append(call.body.model)
    return IdempotencyKey(text=text, fingerprint=hashlib.sha256(to_json(wish)).hexdigest())


@route(
    "PUT",
    "/v2/chat-sessions/{id}/shown-version",
    "Show the versions of a chat that lead to a message",
    errors=(404,),
)
async def set_shown_version(deps: ChatDeps, call: Call[ShownVersionIn]) -> SessionOut:
    session_id, message_id = SessionId(call.path["id"]), MessageId(call.body.message_id)
    return to_session_out(await show_version(deps, call.uid, session_id, message_id))


ROUTES = (add_version, set_shown_version)
