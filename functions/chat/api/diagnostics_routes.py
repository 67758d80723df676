"""Diagnostics route: the steps, durations and costs of one answer."""

from datetime import datetime
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field

from functions.chat.context.known import KnownReason
from functions.chat.deps import ChatDeps
from functions.chat.turn.model_choice import ModelReason
from shared.domain.chats.crisis import CrisisLevel, Route
from shared.domain.chats.run import Outcome
from shared.domain.chats.safety import SafetyScore, SafetyStep
from shared.domain.errors import NotFound
from shared.domain.ids import ConversationId, MemoryId, MessageId, SessionId, UserId
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire
from shared.safety.safety_score import compute_points, find_step


class ToolTimeOut(Wire):
    """A tool call and how long it took, without its arguments."""

    tool: str
    ms: float
    failed: bool


class SafetyOut(Wire):
    """How far the questions of a chat went towards harm for others: 0 to 1, and what follows from it."""

    score: float
    step: SafetyStep
    locked_until: datetime | None


class KnownOut(Wire):
    """What of the library the model was given unasked, by id, and why."""

    reason: KnownReason
    conversations: tuple[ConversationId, ...] = ()
    facts: tuple[MemoryId, ...] = ()


def _read_reason(value: object) -> object:
    """Leave out a reason of earlier answers that is none any more."""
    return value if value in get_args(ModelReason) else None


class DiagnosticsOut(Wire):
    """The steps and costs of an answer until it was stored: names, counts and times, no content.

    `path`: the answer called tools (`tools`), called none (`simple`) or came from an app's
    `persona`. `route` and `crisis_level` (0 to 3) are the verdict on the question, which stands nowhere
    else. `model_reason` says what chose `model`: the owner by the `question`, the chat's `agent` or their
    `profile`, a `persona`'s maker, or what came with the question. `prompt` is the version of our rules, `layers` those of their parts in order. `fallback_model` answered where `model` was down. `stages` are the milliseconds spent
    in each stage; `first_token` counts from the start of the request. `lookup` says whether a
    search of the web brought a source. `window_tokens` is what the model takes at once, as it was known at the end;
    `tools_left_out` names our tools, and `blocks_left_out` what else of the input was cut or left out, for which it had no
    room; `masked` counts by kind the different private values that it read placeholders of; `known` was found before it was asked; of the `app_tools` that could be offered, `app_tools_offered` were. `safety` is that of the chat now. `cost_micro_usd` is what its
    models cost by their list prices, in millionths of a US dollar, without the `unpriced_calls`,
    whose model has no known price.
    """

    run_id: str
    trace_id: str
    request_id: str
    outcome: Outcome
    path: Literal["simple", "tools", "persona"]
    route: Route = "answer"
    crisis_level: CrisisLevel = 0
    lookup: Literal["answered", "no_verified_answer"] | None = None
    safety: SafetyOut
    model: str
    model_reason: Annotated[ModelReason | None, BeforeValidator(_read_reason)] = None
    model_attempts: int = 0
    fallback_model: str | None = None
    prompt: str
    layers: Annotated[dict[str, str], Field(default_factory=dict)]
    cycles: int
    tools: tuple[ToolTimeOut, ...] = ()
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_micro_usd: int | None = None
    unpriced_calls: int = 0
    reads: int = 0
    writes: int = 0
    ms: float
    stages: dict[str, float]
    retrieval_path: str | None = None
    fallback_without_filters: bool = False
    hits: int = 0
    citations: int
    window_tokens: int | None = None
    tools_offered: int = 0
    tools_left_out: tuple[str, ...] = ()
    blocks_left_out: tuple[str, ...] = ()
    known: KnownOut | None = None
    app_tools: int = 0
    app_tools_offered: int = 0
    masked: Annotated[dict[str, int], Field(default_factory=dict)]


@route("GET", "/v2/messages/{id}/diagnostics", "Say how an answer came about", errors=(404,))
async def read_diagnostics(deps: ChatDeps, call: Call) -> DiagnosticsOut:
    message = await deps.stores.messages.get(call.uid, MessageId(call.path["id"]))
    if not message.diagnostics:
        raise NotFound("This message has no diagnostics")
    safety = await _read_safety(deps, call.uid, message.session_id)
    return DiagnosticsOut.model_validate({**message.diagnostics, "safety": safety})


async def _read_safety(deps: ChatDeps, uid: UserId, session_id: SessionId) -> SafetyOut:
    session, now = await deps.stores.sessions.get(uid, session_id), deps.clock.now()
    score = session.safety if session else SafetyScore()
    step = find_step(score, now)
    return SafetyOut(
        score=round(compute_points(score, now), 3),
        step=step,
        locked_until=score.locked_until if step == "locked" else None,
    )


ROUTES = (read_diagnostics,)
