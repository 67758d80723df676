"""Safety of a chat in a turn: what was found out about its question is kept once the answer is out."""

from functions.chat.deps import ChatDeps
from functions.chat.turn.prepared_turn import PreparedTurn
from functions.chat.turn.question_watch import QuestionWatch
from shared.domain.chats.chat import Message
from shared.safety.safety_score import is_worth_keeping


async def keep_rating(deps: ChatDeps, turn: PreparedTurn, watch: QuestionWatch) -> None:
    """Add a question's harm to the score of its chat, and mark a question that quotes an injection.

    A question that nobody rated in time counts as harmless. Raises what the store raises.
    """
    now = deps.clock.now()
    if watch.is_rated and is_worth_keeping(turn.session.safety, watch.harm, now):
        await deps.stores.safety_reviews.add_harm(turn.uid, turn.session.id, watch.harm, now)
    if watch.rating.injection >= deps.thresholds.injection:
        score = watch.rating.injection
        await deps.stores.messages.change(turn.uid, turn.question.id, injection_score=score)


async def log_crisis(deps: ChatDeps, turn: PreparedTurn, answer: Message) -> None:
    """Log what was not harmless. Raises what the store raises."""
    verdict = turn.output_gate.verdict
    if verdict is None or not verdict.level:
        return
    await deps.crisis_log.record(
        turn.uid,
        turn.session.id,
        turn.run_id,
        verdict,
        now=deps.clock.now(),
        missed="found_late" if _is_late(turn, answer) else None,
        names_user=not turn.session.is_incognito,
    )


async def mark_late_crisis(deps: ChatDeps, turn: PreparedTurn, answer: Message) -> None:
    """Mark an answer that was out before a crisis was found, so that what follows it is judged.

    Raises what the store raises.
    """
    if not _is_late(turn, answer):
        return
    verdict = turn.output_gate.verdict
    level = verdict.level if verdict is not None else 0
    diagnostics = {**answer.diagnostics, "crisis_level": level}
    await deps.stores.messages.change(
        turn.uid, answer.id, crisis_level=level, diagnostics=diagnostics
    )


def _is_late(turn: PreparedTurn, answer: Message) -> bool:
    verdict = turn.output_gate.verdict
    return verdict is not None and verdict.level > answer.crisis_level
