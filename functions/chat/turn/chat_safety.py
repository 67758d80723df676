"""Safety of a chat in a turn: what was found out about its question is kept once the answer is out."""

import anyio

from functions.chat.deps import ChatDeps
from functions.chat.turn.prepared_turn import PreparedTurn
from functions.chat.turn.question_watch import QuestionWatch
from shared.safety.safety_score import is_worth_keeping


async def keep_rating(deps: ChatDeps, turn: PreparedTurn, watch: QuestionWatch) -> None:
    """Add a question's harm to the score of its chat, and mark a question that quotes an injection.

    A question that nobody rated in time counts as harmless. Raises what the store raises.
    """
    with anyio.move_on_after(deps.limits.moderation_timeout_s):
        await watch.wait_done()
    now = deps.clock.now()
    if watch.is_rated and is_worth_keeping(turn.session.safety, watch.harm, now):
        await deps.stores.safety_reviews.add_harm(turn.uid, turn.session.id, watch.harm, now)
    if watch.rating.injection >= deps.thresholds.injection:
        score = watch.rating.injection
        await deps.stores.messages.change(turn.uid, turn.question.id, injection_score=score)
