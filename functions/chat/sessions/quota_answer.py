"""Answer of a quota: in the chat, a question beyond a quota is stored with when it continues."""

import asyncio
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from functions.chat import user_texts
from functions.chat.deps import ChatDeps
from functions.chat.sessions.chat_sessions import resolve_session
from shared.domain.account.profile import Profile
from shared.domain.account.quota import NOUNS, describe_limit
from shared.domain.chats.branches import build_shown_path
from shared.domain.chats.chat import Message
from shared.domain.chats.run import build_question_id
from shared.domain.chats.storage_mode import name_within
from shared.domain.conversations.day_words import describe_time
from shared.domain.errors import QuotaExceeded
from shared.domain.ids import AppId, MessageId, RunId, SessionId, UserId
from shared.languages import has_language, translate
from shared.security.visible_text import strip_invisible

UTC = ZoneInfo("UTC")


async def store_quota_answer(
    deps: ChatDeps,
    uid: UserId,
    text: str,
    app_id: AppId | None,
    session_id: SessionId | None,
    refusal: QuotaExceeded,
) -> Message:
    """Store a question and its answer, without a model, and return the answer.

    Raises NotFound for a chat that was deleted meanwhile, QuotaExceeded where too many such answers
    are stored, and Unavailable.
    """
    await deps.quotas.take(uid, "quota_answers", now=deps.clock.now())
    session, profile = await asyncio.gather(
        resolve_session(deps, uid, app_id, session_id), deps.stores.profiles.get(uid)
    )
    now, run_id = deps.clock.now(), RunId(name_within(session.id, deps.new_id()))
    branch = build_shown_path(session.forks).tip
    question = Message(
        id=build_question_id(run_id),
        session_id=session.id,
        text=strip_invisible(text).strip(),
        sender="human",
        created_at=now,
        branch=branch,
        app_id=session.app_id,
    )
    answer = Message(
        id=MessageId(run_id),
        session_id=session.id,
        text=describe_refusal(refusal, profile),
        model_text="",
        sender="ai",
        created_at=now + timedelta(milliseconds=1),
        branch=branch,
        app_id=session.app_id,
        metadata={"outcome": "refused", "quota": refusal.policy},
    )
    await deps.stores.messages.add(uid, session, question, answer)
    return answer


def describe_refusal(refusal: QuotaExceeded, profile: Profile) -> str:
    """Say when it continues, by the owner's clock where their time zone is known, in their language."""
    if refusal.resets_at is None:
        return str(refusal)
    if has_language(profile.language):
        return _translate_refusal(refusal, refusal.resets_at, profile)
    if profile.zone == UTC:
        return str(refusal)
    resets_at = refusal.resets_at.astimezone(profile.zone)
    by_clock = f"For you that is {resets_at:%H:%M} on {resets_at:%Y-%m-%d} ({profile.zone.key})."
    return f"{refusal} {by_clock}"


def _translate_refusal(refusal: QuotaExceeded, resets_at: datetime, profile: Profile) -> str:
    quota = next(quota for quota in NOUNS if quota.replace("_", "-") == refusal.policy)
    return translate(
        user_texts.QUOTA_USED_UP,
        profile.language,
        limit=describe_limit(quota, refusal.limit),
        noun=translate(NOUNS[quota], profile.language),
        time=describe_time(resets_at, profile.zone, profile.language),
    )
