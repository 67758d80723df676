"""Open chats: whether a chat still answers, after what was asked in it."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from functions.chat import user_texts
from functions.chat.deps import ChatDeps
from shared.domain.account.profile import Profile
from shared.domain.chats.chat import Session
from shared.domain.chats.crisis import CrisisVerdict
from shared.domain.conversations.day_words import describe_time
from shared.domain.errors import ChatLocked, TooMany
from shared.domain.ids import UserId
from shared.domain.value import value
from shared.languages import translate
from shared.reading.crisis_rules import CrisisFinding
from shared.reading.crisis_verdict import judge_alone
from shared.reading.read_question import judge_text
from shared.safety.safety_score import find_step

MAX_SLOWED_QUESTIONS = 10
"""An hour and user, in all chats that are slowed."""


@value
class WatchedQuestion:
    """A question, what the crisis rules found in it, and their `verdict`; None where they are unsure.

    `earlier` are texts of the same person that came before.
    """

    text: str
    finding: CrisisFinding
    verdict: CrisisVerdict | None
    earlier: Sequence[str]


async def check_open(
    deps: ChatDeps, uid: UserId, session: Session, profile: Profile, question: WatchedQuestion
) -> None:
    """Refuse a question in a locked chat, and in a slowed one beyond its limit.

    Never one whose writer may be in a crisis. Raises ChatLocked, TooMany and Unavailable.
    """
    now = deps.clock.now()
    step = find_step(session.safety, now)
    if step == "locked" and not await _may_be_crisis(deps, uid, question):
        check_unlocked(session, profile, now)
    is_clear = question.verdict is not None and question.verdict.is_clear
    if step in ("slow", "review") and is_clear and not await _take_slot(deps, uid):
        raise _build_slowed(profile, now)


def check_unlocked(session: Session, profile: Profile, now: datetime) -> None:
    """Raise ChatLocked for a chat that is locked."""
    until = session.safety.locked_until
    if until is not None and now < until:
        time = describe_time(until, profile.zone, profile.language)
        text = translate(user_texts.CHAT_LOCKED, profile.language, time=time)
        raise ChatLocked(text, locked_until=until)


async def _may_be_crisis(deps: ChatDeps, uid: UserId, question: WatchedQuestion) -> bool:
    """Ask the classifier where the rules are unsure, as often as a slowed chat answers."""
    if question.verdict is not None:
        return not question.verdict.is_clear
    if not await _take_slot(deps, uid):
        return judge_alone(question.finding).level > 0
    judged = await judge_text(
        deps,
        uid,
        question.text,
        question.finding,
        earlier=question.earlier,
        wait_s=deps.limits.wait_reading_s(deps.model.describe("fast")),
    )
    return not judged.is_clear


async def _take_slot(deps: ChatDeps, uid: UserId) -> bool:
    left = await deps.stores.hourly_limits.consume(
        uid,
        "slowed-chats",
        hour=_find_hour(deps.clock.now()),
        limit=MAX_SLOWED_QUESTIONS,
        consumer=deps.new_id(),
    )
    return left is not None


def _build_slowed(profile: Profile, now: datetime) -> TooMany:
    end = _find_hour(now) + timedelta(hours=1)
    time = describe_time(end, profile.zone, profile.language)
    limit = MAX_SLOWED_QUESTIONS
    text = translate(user_texts.CHAT_SLOWED, profile.language, limit=limit, time=time)
    return TooMany(text, retry_after_s=-((now - end) // timedelta(seconds=1)))


def _find_hour(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
