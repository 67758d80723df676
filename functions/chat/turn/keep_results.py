"""Keeping of results: data that tools returned is stored as embeds, before the model reads it."""

from collections.abc import Sequence

import anyio

from functions.chat.deps import ChatDeps
from functions.chat.tools.parsed_call import ParsedCall
from functions.chat.tools.toolkit import ToolOutcome
from functions.chat.turn.prepared_turn import PreparedTurn
from functions.chat.turn.result_embeds import ResultPlace, build_embeds
from shared import telemetry
from shared.domain.chats.embed import EmbedRef, build_ref
from shared.domain.ids import MessageId

STORE_TIMEOUT_S = 2.5


async def keep_results(
    deps: ChatDeps,
    turn: PreparedTurn,
    calls: Sequence[ParsedCall],
    outcomes: Sequence[ToolOutcome],
) -> list[EmbedRef]:
    """Return references to what is stored by now, in call order.

    Where it cannot be stored the answer goes on without: the model has the results themselves.
    """
    place = ResultPlace(
        session_id=turn.session.id, message_id=MessageId(turn.run_id), now=deps.clock.now()
    )
    families = [
        (call, build_embeds(call, outcome, place))
        for call, outcome in zip(calls, outcomes, strict=True)
    ]
    embeds = [embed for _, family in families for embed in family]
    if not embeds:
        return []
    try:
        with anyio.fail_after(STORE_TIMEOUT_S):
            await deps.stores.embeds.add_of_run(turn.uid, turn.run_id, embeds)
    except Exception as error:  # noqa: BLE001 - whatever storage does, the answer has its results
        telemetry.warning("embeds_not_stored", error=type(error).__name__)
        return []
    return [build_ref(family[0], call.id) for call, family in families if family]
