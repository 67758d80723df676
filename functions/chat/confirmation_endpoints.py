"""The part of the chat's route table by which owners say whether a call in doubt may run."""

from datetime import datetime
from typing import Literal

from functions.chat.closing import settled
from functions.chat.wiring import ChatDeps
from shared.domain.confirmation import Confirmation
from shared.domain.errors import NotFound
from shared.domain.ids import RunId
from shared.domain.provenance import Source
from shared.edge.http import Call, Endpoint, Wire


class Word(Wire):
    """The owner's word on one call."""

    approved: bool


class ConfirmationOut(Wire):
    """A call that waits, or waited, for its owner's word.

    `arguments` is the JSON text that runs. `reason` says why the owner is asked: they did not ask
    for the call, or did not say its `argument`. While it is `asked` it can be answered, until
    `expires_at`.
    """

    id: str
    call_id: str
    tool: str
    source: Source
    arguments: str
    reason: Literal["not_asked", "not_said"]
    argument: str
    expires_at: datetime
    state: Literal["asked", "approved", "refused", "expired"]


async def list_confirmations(deps: ChatDeps, call: Call[None]) -> list[ConfirmationOut]:
    now = deps.clock.now()
    run = await settled(deps.runs, call.uid, RunId(call.path["id"]), now=now)
    if run is None:
        raise NotFound("Message not found")
    found = await deps.confirmations.of_run(call.uid, run.id)
    return [_out(one, is_open=run.outcome is None and now < one.expires_at) for one in found]


async def answer_confirmation(deps: ChatDeps, call: Call[Word]) -> ConfirmationOut:
    answered = await deps.confirmations.answer(
        call.uid,
        RunId(call.path["id"]),
        call.path["confirmation"],
        approved=call.body.approved,
        now=deps.clock.now(),
    )
    return _out(answered, is_open=False)


def _out(one: Confirmation, *, is_open: bool) -> ConfirmationOut:
    return ConfirmationOut(
        id=one.id,
        call_id=one.call_id,
        tool=one.tool,
        source=one.source,
        arguments=one.arguments,
        reason=one.reason,
        argument=one.argument,
        expires_at=one.expires_at,
        state=one.decision or ("asked" if is_open else "expired"),
    )


CONFIRMATIONS = (
    Endpoint(
        method="GET",
        path="/v2/messages/{id}/confirmations",
        handler=list_confirmations,
        summary="List what an answer asked its owner to confirm, oldest first",
        response=list[ConfirmationOut],
        errors=(404,),
    ),
    Endpoint(
        method="POST",
        path="/v2/messages/{id}/confirmations/{confirmation}",
        handler=answer_confirmation,
        summary="Confirm or refuse a call that an answer waits to make",
        body=Word,
        response=ConfirmationOut,
        errors=(404, 409, 410),
    ),
)
