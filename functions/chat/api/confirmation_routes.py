"""Routes of confirmations: list the questions of an answer, and approve or refuse a call."""

from datetime import datetime
from typing import Literal

from functions.chat.deps import ChatDeps
from functions.chat.runs.lapsed_runs import load_closing_lapsed
from shared.domain.chats.confirmation import Confirmation, ConfirmationReason, Decision
from shared.domain.errors import NotFound
from shared.domain.ids import RunId
from shared.domain.provenance import Source
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire


class DecisionIn(Wire):
    """The user's decision on one call; `always` allows the later ones of its tool as well."""

    approved: bool
    always: bool = False

    @property
    def decision(self) -> Decision:
        if not self.approved:
            return "refused"
        return "always" if self.always else "approved"


class ConfirmationOut(Wire):
    """A call that waits, or waited, for the user's decision.

    `question` says in their language what it would do, and `details` holds its arguments, one a line, where
    the question does not. `arguments` is the JSON text that runs; `source` receives it, and `maker` learns it. `reason`
    says why the user is asked, and `allows_always` whether they may allow the tool for always. In
    the state `asked` it can be answered until `expires_at`.
    """

    id: str
    call_id: str
    tool: str
    source: Source
    maker: str
    question: str
    details: list[str]
    arguments: str
    reason: ConfirmationReason
    allows_always: bool
    expires_at: datetime
    state: Literal["asked"] | Decision


@route(
    "GET",
    "/v2/messages/{id}/confirmations",
    "List what an answer asked its owner to confirm, oldest first",
    errors=(404,),
)
async def list_confirmations(deps: ChatDeps, call: Call) -> list[ConfirmationOut]:
    now = deps.clock.now()
    run = await load_closing_lapsed(deps.stores.runs, call.uid, RunId(call.path["id"]), now=now)
    if run is None:
        raise NotFound("Message not found")
    confirmations = await deps.stores.confirmations.list_for_run(call.uid, run.id)
    return [
        _to_confirmation_out(
            confirmation,
            is_open=now < confirmation.expires_at
            and (run.outcome is None or confirmation.channel == "reply"),
        )
        for confirmation in confirmations
    ]


@route(
    "POST",
    "/v2/messages/{id}/confirmations/{confirmation}",
    "Confirm or refuse a call that an answer waits to make",
    errors=(404, 409, 410),
    check="revocation",
)
async def answer_confirmation(deps: ChatDeps, call: Call[DecisionIn]) -> ConfirmationOut:
    confirmation = await deps.stores.confirmations.answer(
        call.uid,
        RunId(call.path["id"]),
        call.path["confirmation"],
        call.body.decision,
        now=deps.clock.now(),
    )
    return _to_confirmation_out(confirmation, is_open=False)


def _to_confirmation_out(confirmation: Confirmation, *, is_open: bool) -> ConfirmationOut:
    return ConfirmationOut(
        id=confirmation.id,
        call_id=confirmation.call_id,
        tool=confirmation.tool,
        source=confirmation.source,
        maker=confirmation.maker,
        question=confirmation.question,
        details=list(confirmation.details),
        arguments=confirmation.arguments,
        reason=confirmation.reason,
        allows_always=confirmation.allows_always,
        expires_at=confirmation.expires_at,
        state=confirmation.decision or ("asked" if is_open else "expired"),
    )


ROUTES = (
    list_confirmations,
    answer_confirmation,
)
