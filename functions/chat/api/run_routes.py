"""Routes of runs: ask a question, and stream, resume or stop its answer.

Also called: stop generation, abort an answer.
"""

from functools import partial
from typing import Any

from starlette.responses import JSONResponse, Response

from functions.chat.api.chat_query import RepeatHeaders
from functions.chat.api.question_fingerprint import compute_fingerprint
from functions.chat.api.question_schemas import (
    ResumeHeaders,
    ResumeQuery,
    SendMessageIn,
    SendQuery,
    StopOut,
)
from functions.chat.api.refusals import refuse_question
from functions.chat.api.run_streams import (
    build_history_request_stream,
    build_refusal_stream,
    build_stream,
    build_ui_stream,
)
from functions.chat.deps import ChatDeps
from functions.chat.runs.journal import Journal
from functions.chat.runs.lapsed_runs import load_closing_lapsed
from functions.chat.runs.run_events import stream_events
from functions.chat.turn.answer_turn import answer_turn
from functions.chat.turn.idempotency import DuplicateQuestion, IdempotencyKey, QuestionKey
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.prepared_turn import PreparedTurn
from functions.chat.turn.question import Question
from shared import telemetry
from shared.domain.chats.run import Run
from shared.domain.chats.sealed_chat import HistoryRequest
from shared.domain.chats.storage_mode import is_sealed, name_within
from shared.domain.errors import (
    CallerError,
    HistoryMissing,
    NotFound,
    Unavailable,
)
from shared.domain.ids import MessageId, RunId, UserId
from shared.edge.declare.problems import build_problem
from shared.edge.declare.routes import Call, route
from shared.resilience.retry import retry

MAX_MESSAGE_BYTES = 1_048_576
"""More than MAX_QUESTION_CHARS, so that a person who pastes too much reads why in the chat."""


@route(
    "POST",
    "/v2/messages",
    "Ask, and stream the answer",
    headers=RepeatHeaders,
    errors=(404, 423, 429, 503),
    media_type="text/event-stream",
    max_bytes=MAX_MESSAGE_BYTES,
)
async def send_message(deps: ChatDeps, call: Call[SendMessageIn, SendQuery]) -> Response:
    return await answer_question(deps, call, call.body, call.query, _parse_idempotency_key(call))


async def answer_question(
    deps: ChatDeps,
    call: Call[Any, Any],
    question: SendMessageIn,
    query: SendQuery,
    key: QuestionKey | None,
) -> Response:
    """Stream the answer, the run that this question began earlier, or what refuses it."""
    uid = call.uid
    try:
        turn = await _prepare_turn(deps, call, question, query, key)
    except DuplicateQuestion as duplicate:
        return _replay_run(deps, uid, query, duplicate.run, key)
    except (CallerError, Unavailable) as refusal:
        if isinstance(refusal, HistoryMissing) and query.protocol is not None:
            return await _request_history(deps, uid, question, query, key, refusal)
        if query.protocol is not None:
            raise
        return build_refusal_stream(await refuse_question(deps, uid, question.text, query, refusal))
    telemetry.add_fields(run_id=turn.run_id)
    journal = Journal()
    events = stream_events(deps, uid, turn.run_id, journal=journal)
    return build_stream(query, turn.run_id, events, work=lambda: answer_turn(deps, turn, journal))


async def _request_history(
    deps: ChatDeps,
    uid: UserId,
    question: SendMessageIn,
    query: SendQuery,
    key: QuestionKey | None,
    missing: HistoryMissing,
) -> Response:
    """Let a question in a sealed chat wait for the messages before it, and ask the client for them."""
    from functions.chat.safety.unread_crisis import write_plan

    name = key.run_id(uid) if key else deps.new_id()
    request = HistoryRequest(
        id=RunId(name_within(query.session_id, name)),
        session_id=query.session_id,
        reason=missing.reason,
        fingerprint=compute_fingerprint(question, query),
        created_at=deps.clock.now(),
    )
    await deps.stores.history_requests.put(uid, request)
    telemetry.add_fields(run_id=request.id, outcome="waiting")
    plan = await write_plan(deps, uid, request.session_id, request.id, question.text)
    return build_history_request_stream(request, plan)


async def _prepare_turn(
    deps: ChatDeps,
    call: Call[Any, Any],
    question: SendMessageIn,
    query: SendQuery,
    key: QuestionKey | None,
) -> PreparedTurn:
    asked = Question(
        question.text,
        query.app,
        query.session,
        follows=MessageId(question.follows) if question.follows else None,
        models=question.list_models(),
        page=question.context.to_page() if question.context else None,
        file_ids=question.file_ids or (),
        similar_chats=question.list_similar(),
        client_language=call.language,
        can_confirm=query.protocol is not None,
    )
    prepare = partial(prepare_turn, deps, call.uid, asked, key=key)
    with telemetry.measure_stage("prepare"):
        return await retry(prepare, sleep=deps.clock.sleep)


def _parse_idempotency_key(call: Call[SendMessageIn, SendQuery]) -> IdempotencyKey | None:
    """Read the key that repeats of this question share."""
    text = call.headers.get("idempotency-key") or call.body.client_message_id
    if text is None:
        return None
    return IdempotencyKey(text=text, fingerprint=compute_fingerprint(call.body, call.query))


def _replay_run(
    deps: ChatDeps, uid: UserId, query: SendQuery, run: Run, key: QuestionKey | None
) -> Response:
    """Stream the run that this question started when it first came."""
    if key is None or run.fingerprint != key.fingerprint:
        return build_problem(422, "This idempotency key came with another question before.")
    return build_stream(query, run.id, stream_events(deps, uid, run.id))


@route(
    "GET",
    "/v2/messages/{id}/stream",
    "Follow an answer from any event on, as a UI message stream",
    headers=ResumeHeaders,
    other_statuses=(204,),
    errors=(404, 429, 503),
    media_type="text/event-stream",
)
async def resume_message(deps: ChatDeps, call: Call[None, ResumeQuery]) -> Response:
    """Stream the events after the last one that the client has; 204 when there are no more.

    Raises QuotaExceeded for more followers than an answer or a day may have.
    """
    run_id = RunId(call.path["id"])
    after_seq = _parse_after_seq(call)
    await deps.quotas.take(call.uid, "followers", now=deps.clock.now())
    if deps.active_runs.find(call.uid, run_id) is None:
        run = await _find_run(deps, call.uid, run_id)
        if run is None:
            return await _repeat_request(deps, call.uid, run_id)
        if not run.has_journal(deps.clock.now()) or 0 < run.last_seq <= after_seq:
            return Response(status_code=204)
        if run.outcome is not None:
            await deps.stores.runs.get_answer(call.uid, run_id)
    events = stream_events(deps, call.uid, run_id, split_after_seq=after_seq)
    return build_ui_stream(
        run_id,
        deps.active_runs.followers.admit(call.uid, run_id, events),
        after_seq=after_seq,
    )


def _parse_after_seq(call: Call[None, ResumeQuery]) -> int:
    header = call.headers.get("last-event-id")
    return int(header) if header else call.query.after


@route(
    "POST",
    "/v2/messages/{id}/stop",
    "Stop an answer; what was said is kept",
    status=202,
    other_statuses=(200,),
    errors=(404,),
)
async def stop_message(deps: ChatDeps, call: Call) -> StopOut | Response:
    run_id = RunId(call.path["id"])
    active_run = deps.active_runs.find(call.uid, run_id)
    if active_run is not None:
        active_run.end("stopped")
        return _build_stop_response(None)
    run = await _get_run(deps, call.uid, run_id)
    if run.outcome is None:
        await deps.stores.runs.send_signal(call.uid, run_id, "stop")
    return _build_stop_response(run)


def _build_stop_response(run: Run | None) -> Response:
    if run is None or run.outcome is None:
        return JSONResponse({"status": "stopping", "outcome": None}, status_code=202)
    return JSONResponse({"status": "ended", "outcome": run.outcome})


async def _repeat_request(deps: ChatDeps, uid: UserId, run_id: RunId) -> Response:
    """Ask again for what a question in a sealed chat waits for. Raises NotFound."""
    request = await deps.stores.history_requests.find(uid, run_id) if is_sealed(run_id) else None
    if request is None:
        raise NotFound("Message not found")
    return build_history_request_stream(request)


async def _get_run(deps: ChatDeps, uid: UserId, run_id: RunId) -> Run:
    """Return the run; one that lapsed is closed first. Raises NotFound."""
    run = await _find_run(deps, uid, run_id)
    if run is None:
        raise NotFound("Message not found")
    return run


async def _find_run(deps: ChatDeps, uid: UserId, run_id: RunId) -> Run | None:
    return await load_closing_lapsed(deps.stores.runs, uid, run_id, now=deps.clock.now())


ROUTES = (send_message, resume_message, stop_message)
