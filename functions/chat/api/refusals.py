"""Refusals of questions, as answers in the chat: the Omi app shows nothing for any status but 200."""

from contextlib import suppress

from functions.chat import user_texts
from functions.chat.api.chat_query import ChatQuery
from functions.chat.deps import ChatDeps
from functions.chat.sessions.quota_answer import store_quota_answer
from shared import telemetry
from shared.domain.chats.chat import Message
from shared.domain.chats.storage_mode import name_within
from shared.domain.errors import (
    CallerError,
    HistoryMissing,
    KeepsakeError,
    QuotaExceeded,
    Unavailable,
)
from shared.domain.ids import MessageId, RunId, UserId
from shared.languages import translate


async def refuse_question(
    deps: ChatDeps,
    uid: UserId,
    text: str,
    query: ChatQuery,
    refusal: CallerError | Unavailable,
) -> Message:
    """Build the answer to a question that is refused; that of a quota is stored with its question."""
    if isinstance(refusal, QuotaExceeded):
        with suppress(KeepsakeError):
            telemetry.add_fields(outcome="refused")
            return await store_quota_answer(deps, uid, text, query.app, query.session, refusal)
    if isinstance(refusal, HistoryMissing):
        from functions.chat.safety.unread_crisis import write_plan

        run_id = RunId(name_within(query.session_id, deps.new_id()))
        plan = await write_plan(deps, uid, query.session_id, run_id, text)
        return build_refusal(
            deps, query, plan or await word_for(deps, uid, user_texts.HISTORY_NEEDED)
        )
    is_down = isinstance(refusal, Unavailable)
    return build_refusal(deps, query, user_texts.STORE_DOWN if is_down else str(refusal))


async def word_for(deps: ChatDeps, uid: UserId, text: str) -> str:
    """Return a sentence of ours in the owner's language; in English where that cannot be read."""
    with suppress(KeepsakeError):
        return translate(text, (await deps.stores.profiles.get(uid)).language)
    return text


def build_refusal(deps: ChatDeps, query: ChatQuery, text: str) -> Message:
    """Build an answer that says why, and is not stored."""
    telemetry.add_fields(outcome="refused")
    return Message(
        id=MessageId(deps.new_id()),
        session_id=query.session_id,
        text=text,
        sender="ai",
        created_at=deps.clock.now(),
        app_id=query.app,
        metadata={"outcome": "refused"},
    )
