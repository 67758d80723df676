"""Corrections: an answer that could do harm, or whose links lead nowhere, gets another version.

What was given stays. The correction says at its end why it was made, and the chat shows it, unless it has
gone on by then. Its id comes from the answer's, so that it is made once however often the event comes;
a correction is never corrected.
"""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Literal

from functions.chat import user_texts
from functions.chat.context import window
from functions.chat.context.citations import strip_markers
from functions.chat.corrections.broken_links import replace_broken_links
from functions.chat.corrections.safe_answer import write_safe_answer
from functions.chat.deps import AfterTurnDeps
from functions.chat.sessions.versions import MAX_VERSIONS, load_question
from shared import telemetry
from shared.data.chats.answer_changes import METADATA_FIELD
from shared.domain.chats.branches import build_retry, build_shown_path
from shared.domain.chats.chat import (
    CORRECTS_KEY,
    LISTED_KEY,
    QUESTION_KEY,
    QUESTION_WORDS_KEY,
    Message,
    Session,
)
from shared.domain.errors import Invalid, NotFound
from shared.domain.ids import BranchId, MessageId, UserId
from shared.domain.value import value
from shared.languages import translate
from shared.resilience.retry import retry

Reason = Literal["harm", "broken_links"]

_SUFFIX = "-c"
_STORE_ATTEMPTS = 4
"""Attempts to store a correction while the chat changes."""
_ACTING_KEYS = (QUESTION_KEY, QUESTION_WORDS_KEY, LISTED_KEY, METADATA_FIELD)
"""What the owner can act on in an answer; it stays with the version that says it."""
_NOTE_BY_REASON = {
    "harm": user_texts.ANSWER_WRITTEN_AGAIN,
    "broken_links": user_texts.LINKS_REPLACED,
}


@value
class _Case:
    """An answer that may be corrected, with its question and its chat."""

    session: Session
    question: Message
    answer: Message
    language: str | None


@value
class _Draft:
    """The text of a correction, with citation markers, and why it differs from the answer.

    `model_text` is what of it a model wrote.
    """

    text: str
    model_text: str
    reason: Reason


async def correct_answer(deps: AfterTurnDeps, uid: UserId, answer_id: MessageId) -> None:
    """Correct an answer where that is called for, once.

    Raises Unavailable when a retry may help.
    """
    case = await _load_case(deps, uid, answer_id)
    draft = await _draft(deps, uid, case) if case else None
    if case is None or draft is None:
        return
    telemetry.add_fields(correction=draft.reason)
    await retry(
        partial(_store, deps, uid, case, draft), sleep=deps.clock.sleep, attempts=_STORE_ATTEMPTS
    )


async def _load_case(deps: AfterTurnDeps, uid: UserId, answer_id: MessageId) -> _Case | None:
    """Return an answer that may be corrected; None for any other, and where it was done before."""
    try:
        answer = await deps.stores.messages.get(uid, answer_id)
    except NotFound:
        return None
    if answer.links is None and not _is_harmful(deps, answer):
        return None
    session = await deps.stores.sessions.get(uid, answer.session_id)
    if session is None or not _may_be_corrected(session, answer):
        return None
    try:
        question = await load_question(deps.stores, uid, session, answer)
    except Invalid:
        return None
    profile = await deps.stores.profiles.get(uid)
    return _Case(session=session, question=question, answer=answer, language=profile.language)


def _is_harmful(deps: AfterTurnDeps, answer: Message) -> bool:
    return answer.harm is not None and answer.harm >= deps.harm_limit


def _may_be_corrected(session: Session, answer: Message) -> bool:
    """Tell whether a model answered somebody who is in no crisis: to them nothing is taken back."""
    is_first = CORRECTS_KEY not in answer.metadata and len(session.forks) < MAX_VERSIONS
    is_done = any(fork.id == _build_id(answer) for fork in session.forks)
    is_of_model = answer.route in ("answer", "lookup") and not answer.crisis_level
    return is_first and not is_done and is_of_model and not session.is_private


def _build_id(answer: Message) -> str:
    return f"{answer.id}{_SUFFIX}"


async def _draft(deps: AfterTurnDeps, uid: UserId, case: _Case) -> _Draft | None:
    """Return what an answer becomes; None where it may stay as it is."""
    answer = case.answer
    if _is_harmful(deps, answer):
        text = await write_safe_answer(deps, uid, case.session, case.question, answer)
        withdrawn = translate(user_texts.ANSWER_WITHDRAWN, case.language)
        return _Draft(text=text or withdrawn, model_text=text, reason="harm")
    if any(key in answer.metadata for key in _ACTING_KEYS):
        return None
    mended = await replace_broken_links(deps, uid, answer, case.language)
    if mended is None:
        return None
    text = mended.marked_text or ""
    return _Draft(text=text, model_text=mended.model_text or "", reason="broken_links")


async def _store(deps: AfterTurnDeps, uid: UserId, case: _Case, draft: _Draft) -> None:
    """Store a correction, shown while its answer is the last of the chat. Raises Unavailable."""
    session = await deps.stores.sessions.get(uid, case.session.id)
    if session is None:
        return
    correction_id = _build_id(case.answer)
    fork = build_retry(
        session.forks,
        case.answer,
        case.question,
        BranchId(correction_id),
        MessageId(correction_id),
    )
    fork = replace(fork, is_shown=await _is_last(deps, uid, session, case.answer))
    correction = _build_correction(deps, case, draft, MessageId(correction_id))
    await deps.stores.messages.add_correction(uid, session, fork, correction)


async def _is_last(deps: AfterTurnDeps, uid: UserId, session: Session, answer: Message) -> bool:
    """Tell whether a chat shows an answer and nothing of owner or assistant after it."""
    newest = await deps.stores.messages.list_newest(
        uid, session.id, limit=window.MIN_VERBATIM, path=build_shown_path(session.forks)
    )
    last = next((message for message in newest if not message.from_integration), None)
    return last is not None and last.id == answer.id


def _build_correction(
    deps: AfterTurnDeps, case: _Case, draft: _Draft, correction_id: MessageId
) -> Message:
    answer = case.answer
    text = f"{draft.text}\n\n{translate(_NOTE_BY_REASON[draft.reason], case.language)}"
    source_count = len(answer.cards) + len(answer.file_citations)
    kept = {name: each for name, each in answer.metadata.items() if name not in _ACTING_KEYS}
    return replace(
        answer,
        id=correction_id,
        branch=BranchId(correction_id),
        created_at=max(deps.clock.now(), answer.created_at + timedelta(milliseconds=1)),
        text=strip_markers(text, source_count),
        marked_text=text,
        model_text=strip_markers(draft.model_text, source_count),
        voices=(),
        voice=0,
        harm=None,
        links=None,
        notes=None if draft.reason == "harm" else answer.notes,
        reported=False,
        report_reason=None,
        rating=None,
        rating_reason=None,
        metadata={**kept, CORRECTS_KEY: {"id": answer.id, "reason": draft.reason}},
    )
