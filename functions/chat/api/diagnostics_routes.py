"""The part of the chat's route table that says how an answer came about."""

from typing import Literal

from functions.chat.deps import ChatDeps
from shared.domain.errors import NotFound
from shared.domain.ids import MessageId
from shared.domain.run import Outcome
from shared.edge.routes import Call, route
from shared.edge.schemas import Wire


class ToolTimeOut(Wire):
    """A tool call and how long it took; what it was asked stays out."""

    tool: str
    ms: float
    failed: bool


class DiagnosticsOut(Wire):
    """How an answer came about and what it cost until it was stored: names, counts and times.

    `path` says whether the answer asked tools, needed none (`simple`) or was an app's `persona`.
    `fallback_model` was asked where `model` was down. `stages` are milliseconds, spent in a stage;
    `first_token` since the request began.
    """

    run_id: str
    trace_id: str
    request_id: str
    outcome: Outcome
    path: Literal["simple", "tools", "persona"]
    model: str
    model_attempts: int = 0
    fallback_model: str | None = None
    prompt: str
    cycles: int
    tools: tuple[ToolTimeOut, ...] = ()
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    reads: int = 0
    writes: int = 0
    ms: float
    stages: dict[str, float]
    retrieval_path: str | None = None
    fallback_without_filters: bool = False
    hits: int = 0
    citations: int


@route("GET", "/v2/messages/{id}/diagnostics", "Say how an answer came about", errors=(404,))
async def read_diagnostics(deps: ChatDeps, call: Call) -> DiagnosticsOut:
    message = await deps.stores.messages.get(call.uid, MessageId(call.path["id"]))
    if not message.diagnostics:
        raise NotFound("This message has no diagnostics")
    return DiagnosticsOut.model_validate(message.diagnostics)


ROUTES = (read_diagnostics,)
