"""Internal routes: what follows a turn, and closing runs whose process ended."""

from datetime import datetime
from typing import Literal

from pydantic import ValidationError

from functions.chat.corrections.correct_answer import correct_answer
from functions.chat.deps import AfterTurnDeps, ClosingDeps, StretchDeps
from functions.chat.runs.lapsed_runs import require_closed
from functions.chat.stretches.end_stretch import end_stretch
from functions.chat.turn.after_turn import after_turn
from shared.domain.errors import Invalid
from shared.domain.ids import MessageId, RunId, SessionId, UserId
from shared.edge.declare.cloudevents import parse_pubsub_event
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire
from shared.library.count_model_usage import count_model_usage


class CloseRunIn(Wire):
    """The ids of a run."""

    uid: UserId
    run_id: RunId


class StretchEndedIn(Wire):
    """A chat, and the time of the message that ends a stretch of it, by silence or because it `is_asked`."""

    uid: UserId
    session_id: SessionId
    until: datetime
    is_asked: bool = False


class CloseOut(Wire):
    status: Literal["closed"] = "closed"


class TurnEndedIn(Wire):
    """The event `turn.ended`; its chat's older messages are to be summarised for a window of `summarise_for` tokens."""

    uid: str
    session_id: str
    run_id: str
    summarise_for: int | None = None


@route("POST", "/", "A turn ended", access="service", status=204)
async def on_turn_ended(deps: AfterTurnDeps, call: Call[bytes]) -> None:
    try:
        event = TurnEndedIn.model_validate(parse_pubsub_event(call.headers, call.body))
    except ValidationError as error:
        raise Invalid("The message does not name a turn") from error
    uid = UserId(event.uid)
    async with count_model_usage(deps.quotas, deps.clock, uid):
        answer_id = MessageId(event.run_id)
        await after_turn(deps, uid, SessionId(event.session_id), answer_id, event.summarise_for)
        await correct_answer(deps, uid, answer_id)


@route("POST", "/", "A stretch of a chat ended", access="service", status=204)
async def on_stretch_ended(deps: StretchDeps, call: Call[StretchEndedIn]) -> None:
    body = call.body
    async with count_model_usage(deps.quotas, deps.clock, body.uid):
        await end_stretch(deps, body.uid, body.session_id, body.until, is_asked=body.is_asked)


@route("POST", "/", "End a run whose process is gone", access="service")
async def close_lapsed_run(deps: ClosingDeps, call: Call[CloseRunIn]) -> CloseOut:
    now = deps.clock.now()
    await require_closed(deps.stores.runs, call.body.uid, call.body.run_id, now=now)
    return CloseOut()


AFTER_TURN_ROUTES = (on_turn_ended,)
STRETCH_ROUTES = (on_stretch_ended,)
CLOSE_RUN_ROUTES = (close_lapsed_run,)
