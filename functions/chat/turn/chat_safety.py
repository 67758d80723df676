"""Safety of a chat in a turn: what its question asks for is rated once the answer is out."""

import anyio

from functions.chat.deps import ChatDeps
from functions.chat.turn.prepared_turn import PreparedTurn
from shared import telemetry
from shared.safety.crisis_verdict import mask_contacts
from shared.safety.safety_score import is_worth_keeping


async def rate_question(deps: ChatDeps, turn: PreparedTurn) -> None:
    """Add what a question asks for to the score of its chat.

    Commands are not rated, nor is somebody who may be in a crisis. A question that nobody rates in time
    counts as harmless. Raises what the store raises.
    """
    verdict = turn.output_gate.verdict
    if verdict is None or not verdict.is_clear or turn.command:
        return
    harm = await _rate(deps, turn.question.text)
    now = deps.clock.now()
    if is_worth_keeping(turn.session.safety, harm, now):
        await deps.stores.safety_reviews.add_harm(turn.uid, turn.session.id, harm, now)


async def _rate(deps: ChatDeps, text: str) -> float:
    with anyio.move_on_after(deps.limits.moderation_timeout_s):
        try:
            return await deps.moderator.rate_harm(mask_contacts(text))
        except Exception as error:  # noqa: BLE001 - whatever fails, the question counts as harmless
            telemetry.warning("question_not_rated", error=type(error).__name__)
    return 0.0
