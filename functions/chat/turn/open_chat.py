"""Open chats: whether a chat still answers, after what was asked in it."""

from datetime import UTC, datetime, timedelta

from functions.chat import user_texts
from functions.chat.deps import ChatDeps
from functions.chat.turn.judge_text import judge_text
from functions.chat.turn.turn_context import TurnContext
from shared.domain.crisis import CrisisVerdict
from shared.domain.day_words import describe_time
from shared.domain.errors import ChatLocked, TooMany
from shared.domain.ids import UserId
from shared.domain.profile import Profile
from shared.languages import translate
from shared.safety.crisis_rules import CrisisFinding
from shared.safety.safety_score import find_step

MAX_SLOWED_QUESTIONS = 10
"""An hour and user, in all chats that are slowed."""


async def check_open(
    deps: ChatDeps,
    uid: UserId,
    context: TurnContext,
    text: str,
    finding: CrisisFinding,
    verdict: CrisisVerdict | None,
) -> None:
    """Refuse a question in a locked chat, and in a slowed one beyond its limit.

    Never one whose writer may be in a crisis; in a locked chat a classifier is asked where the rules
    gave no `verdict`. Raises ChatLocked, TooMany and Unavailable.
    """
    score = context.session.safety
    step = find_step(score, deps.clock.now())
    if step == "locked" and score.locked_until is not None:
        judged = verdict or await judge_text(deps, text, finding, earlier=())
        if judged.is_clear:
            raise _build_locked(score.locked_until, context.profile)
    elif step in ("slow", "review") and verdict is not None and verdict.is_clear:
        await _take_question(deps, uid, context.profile)


def _build_locked(until: datetime, profile: Profile) -> ChatLocked:
    time = describe_time(until, profile.zone, profile.language)
    text = translate(user_texts.CHAT_LOCKED, profile.language, time=time)
    return ChatLocked(text, locked_until=until)


async def _take_question(deps: ChatDeps, uid: UserId, profile: Profile) -> None:
    now = deps.clock.now().astimezone(UTC)
    hour = now.replace(minute=0, second=0, microsecond=0)
    left = await deps.stores.hourly_limits.consume(
        uid,
        "slowed-chats",
        hour=hour,
        limit=MAX_SLOWED_QUESTIONS,
        consumer=deps.new_id(),
    )
    if left is None:
        end = hour + timedelta(hours=1)
        time = describe_time(end, profile.zone, profile.language)
        limit = MAX_SLOWED_QUESTIONS
        raise TooMany(
            translate(user_texts.CHAT_SLOWED, profile.language, limit=limit, time=time),
            retry_after_s=-((now - end) // timedelta(seconds=1)),
        )
