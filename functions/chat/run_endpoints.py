"""The part of the chat's route table that asks, follows and stops: answers that stream."""

import hashlib
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from functools import partial
from typing import Any

from pydantic_core import to_json
from starlette.responses import JSONResponse, Response

from functions.chat import guards
from functions.chat.accepting import prepare
from functions.chat.closing import close_run, settled
from functions.chat.following import follow
from functions.chat.journal import Journal
from functions.chat.repeats import Key, Repeated
from functions.chat.turn import answer
from functions.chat.wire import (
    Closed,
    CloseRunRequest,
    ResumeHeaders,
    ResumeQuery,
    SendHeaders,
    SendMessageRequest,
    SendQuery,
    Stopped,
    message_json,
)
from functions.chat.wiring import ChatDeps, ClosingDeps
from shared import telemetry
from shared.domain.attempts import twice
from shared.domain.chat import Message
from shared.domain.errors import CallerError, NotFound, Unavailable
from shared.domain.ids import MessageId, RunId, UserId
from shared.domain.run import Ended, Numbered, Run, RunEvent, Said
from shared.edge import frames, ui_messages
from shared.edge.event_stream import EventStream
from shared.edge.http import Call, Endpoint
from shared.edge.problems import problem

MAX_MESSAGE_BYTES = 1_048_576
"""Beyond MAX_QUESTION_CHARS, so that a person who pastes too much reads why in the chat."""

Events = AsyncGenerator[Numbered, None]
Work = Callable[[], Coroutine[Any, Any, None]]


async def send_message(deps: ChatDeps, call: Call[SendMessageRequest]) -> Response:
    query: SendQuery = call.query
    key = _key(call)
    accept = partial(
        prepare,
        deps,
        call.uid,
        call.body.text,
        query.app,
        query.session,
        key=key,
        can_ask=query.protocol is not None,
    )
    try:
        with telemetry.stage("prepare"):
            turn = await twice(accept, deps.clock.sleep)
    except Repeated as repeated:
        return _again(deps, call, repeated.run, key)
    except (CallerError, Unavailable) as refusal:
        if query.protocol is not None:
            raise
        private = isinstance(refusal, Unavailable)
        return _refused(deps, query, guards.UNREADABLE if private else str(refusal))
    telemetry.note(run_id=turn.run_id)
    journal = Journal()
    events = follow(deps, call.uid, turn.run_id, journal=journal)
    return _stream(query, turn.run_id, events, work=lambda: answer(deps, turn, journal))


def _key(call: Call[SendMessageRequest]) -> Key | None:
    """Read what marks repeats of this question."""
    text = call.headers.get("idempotency-key") or call.body.client_message_id
    if text is None:
        return None
    query: SendQuery = call.query
    asked = call.body.model_dump(exclude={"client_message_id"})
    fingerprint = hashlib.sha256(to_json([query.session_id, asked])).hexdigest()
    return Key(text=text, fingerprint=fingerprint)


def _again(deps: ChatDeps, call: Call[SendMessageRequest], run: Run, key: Key | None) -> Response:
    """Tell the run that this question began when it first came."""
    if key is None or run.fingerprint != key.fingerprint:
        return problem(422, "This idempotency key came with another question before.")
    return _stream(call.query, run.id, follow(deps, call.uid, run.id))


def _refused(deps: ChatDeps, query: SendQuery, text: str) -> EventStream:
    """Tell a refusal as an answer: the app shows nothing of any status but 200."""
    telemetry.note(outcome="refused")
    message = Message(
        id=MessageId(deps.new_id()),
        session_id=query.session_id,
        text=text,
        sender="ai",
        created_at=deps.clock.now(),
        app_id=query.app,
        metadata={"outcome": "refused"},
    )
    journal = Journal()
    journal.append(Said(text))
    journal.append(Ended(message, "failed"))
    journal.open()
    told = frames.encode(_unnumbered(journal.tail()), message_json)
    return EventStream(told, heartbeat=frames.HEARTBEAT)


def _stream(
    query: SendQuery,
    run_id: RunId,
    events: Events,
    *,
    work: Work | None = None,
) -> EventStream:
    if query.protocol is not None:
        return _ui_stream(run_id, events, work=work)
    return EventStream(
        frames.encode(_unnumbered(events), message_json),
        heartbeat=frames.HEARTBEAT,
        work=work,
        headers={"X-Run-Id": run_id},
    )


def _ui_stream(
    run_id: RunId,
    events: Events,
    *,
    after: int = 0,
    work: Work | None = None,
) -> EventStream:
    return EventStream(
        ui_messages.encode(events, run_id=run_id, message_json=message_json, after=after),
        heartbeat=ui_messages.HEARTBEAT,
        work=work,
        headers={"X-Run-Id": run_id, **ui_messages.HEADERS},
    )


async def _unnumbered(events: Events) -> AsyncGenerator[RunEvent, None]:
    async with aclosing(events):
        async for numbered in events:
            yield numbered.event


async def resume_message(deps: ChatDeps, call: Call[None]) -> Response:
    """Tell what comes after the last event the client has; 204 when there is nothing more."""
    run_id = RunId(call.path["id"])
    after = _after(call)
    if deps.live.find(call.uid, run_id) is None:
        run = await _known(deps, call.uid, run_id)
        if not run.has_journal(deps.clock.now()) or run.last_seq == after > 0:
            return Response(status_code=204)
        if run.outcome is not None:
            await deps.runs.answer(call.uid, run_id)
    return _ui_stream(run_id, follow(deps, call.uid, run_id, apart=after), after=after)


def _after(call: Call[None]) -> int:
    query: ResumeQuery = call.query
    header = call.headers.get("last-event-id")
    return int(header) if header else query.after


async def stop_message(deps: ChatDeps, call: Call[None]) -> Response:
    run_id = RunId(call.path["id"])
    live = deps.live.find(call.uid, run_id)
    if live is not None:
        live.end("stopped")
        return _stopped(None)
    run = await _known(deps, call.uid, run_id)
    if run.outcome is None:
        await deps.runs.request_stop(call.uid, run_id)
    return _stopped(run)


def _stopped(run: Run | None) -> Response:
    if run is None or run.outcome is None:
        return JSONResponse({"status": "stopping", "outcome": None}, status_code=202)
    return JSONResponse({"status": "ended", "outcome": run.outcome})


async def _known(deps: ChatDeps, uid: UserId, run_id: RunId) -> Run:
    """Return a run that goes on or has its end. Raises NotFound."""
    run = await settled(deps.runs, uid, run_id, now=deps.clock.now())
    if run is None:
        raise NotFound("Message not found")
    return run


async def close_lapsed_run(deps: ClosingDeps, call: Call[CloseRunRequest]) -> Closed:
    now = deps.clock.now()
    await close_run(deps.runs, call.body.uid, call.body.run_id, now=now)
    return Closed()


RUNS = (
    Endpoint(
        method="POST",
        path="/v2/messages",
        handler=send_message,
        summary="Ask, and stream the answer",
        query=SendQuery,
        headers=SendHeaders,
        body=SendMessageRequest,
        max_bytes=MAX_MESSAGE_BYTES,
        media_type="text/event-stream",
        errors=(404, 429, 503),
    ),
    Endpoint(
        method="GET",
        path="/v2/messages/{id}/stream",
        handler=resume_message,
        summary="Follow an answer from any event on, as a UI message stream",
        query=ResumeQuery,
        headers=ResumeHeaders,
        also=(204,),
        media_type="text/event-stream",
        errors=(404,),
    ),
    Endpoint(
        method="POST",
        path="/v2/messages/{id}/stop",
        handler=stop_message,
        summary="Stop an answer; what was said is kept",
        response=Stopped,
        status=202,
        also=(200,),
        errors=(404,),
    ),
)

CLOSING = (
    Endpoint(
        method="POST",
        path="/",
        handler=close_lapsed_run,
        summary="End a run whose process is gone",
        access="service",
        body=CloseRunRequest,
        response=Closed,
    ),
)
