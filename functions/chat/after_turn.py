"""What follows an answer: its chat gets a title, and what has grown old in it a summary.

Both are derived from what is stored; an event is only the occasion. So one that is lost is made up
for by the next turn's, and one that comes twice finds nothing to do.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import anyio

from functions.chat.answers import SummaryAnswer, TitleAnswer
from functions.chat.context import history
from functions.chat.wiring import AfterTurnDeps
from shared import prompts, telemetry
from shared.domain.chat import Message, Session
from shared.domain.errors import ModelFailed
from shared.domain.ids import RunId, SessionId, UserId
from shared.domain.model import Prompt
from shared.domain.text import visible
from shared.domain.words import first_words
from shared.ports import Events

ENDED = "turn.ended"
TELL_TIMEOUT_S = 5.0
TITLE_WORDS = 10
TITLE_CHARS = 120
SUMMARY_PARAGRAPHS = 3
SUMMARY_CHARS = 4_000
SAID_CHARS = 8_000
"""What a title or a summary is made from of one message."""


async def tell(events: Events, uid: UserId, session_id: SessionId, run_id: RunId) -> None:
    """Tell that a turn ended; the answer stands whether or not that is heard."""
    try:
        with anyio.fail_after(TELL_TIMEOUT_S):
            ids = {"uid": uid, "session_id": session_id, "run_id": run_id}
            await events.publish(ENDED, ids)
    except Exception as error:  # noqa: BLE001 - the next turn makes up for it
        telemetry.warning("turn_ended_unheard", error=type(error).__name__)


async def after_turn(deps: AfterTurnDeps, uid: UserId, session_id: SessionId) -> None:
    """Bring what is derived from a chat in line with its messages.

    Raises Unavailable: call again. What the model cannot do is left to the next turn.
    """
    session = await deps.sessions.get(uid, session_id)
    if session is None:
        return
    if not session.title:
        await _entitle(deps, uid, session)
    await _compress(deps, uid, session)


async def _entitle(deps: AfterTurnDeps, uid: UserId, session: Session) -> None:
    """Name a chat after its first question that was answered."""
    newest = await deps.messages.newest(uid, session.id, limit=history.KEPT)
    exchange = _exchange([m for m in reversed(newest) if not m.from_integration])
    if exchange is not None:
        _, answer = exchange
        title = await _title(deps, *exchange)
        await deps.sessions.derive(uid, session, source=answer, title=title)


def _exchange(messages: Sequence[Message]) -> tuple[Message, Message] | None:
    """Return the first question and what answered it."""
    pairs = pairwise(messages)
    return next((pair for pair in pairs if [m.sender for m in pair] == ["human", "ai"]), None)


async def _title(deps: AfterTurnDeps, question: Message, answer: Message) -> str:
    """Return the model's title, or else how the question begins."""
    data = {"question": question.text[:SAID_CHARS], "answer": answer.text[:SAID_CHARS]}
    try:
        given = await deps.model.structured("fast", _prompt("title", data), TitleAnswer)
    except ModelFailed:
        return short_title(question.text)
    return short_title(given.title) or short_title(question.text)


def short_title(text: str) -> str:
    """Fit a title to its limits, whatever the model says."""
    return first_words(visible(text).strip(" \n\"'“”«»"), TITLE_WORDS)[:TITLE_CHARS]


async def _compress(deps: AfterTurnDeps, uid: UserId, session: Session) -> None:
    """Summarise step by step, until no step is due."""
    current: Session | None = session
    while current is not None:
        fresh = await deps.messages.following(
            uid, current.id, current.summarised_until, limit=history.FULL + 1
        )
        step = history.due(fresh)
        current = await _summarise(deps, uid, current, step) if step else None


async def _summarise(
    deps: AfterTurnDeps, uid: UserId, session: Session, step: Sequence[Message]
) -> Session | None:
    """Store a summary that covers `step`, too; None where there is none, or others were first."""
    data = {"summary": session.summary, "messages": [_said(message) for message in step]}
    try:
        given = await deps.model.structured("standard", _prompt("summary", data), SummaryAnswer)
    except ModelFailed:
        telemetry.note(outcome="not_summarised")
        return None
    summary = short_summary(given.summary)
    if not summary:
        return None
    last = step[-1]
    return await deps.sessions.derive(
        uid, session, source=last, summary=summary, summarised_until=last.position
    )


def _said(message: Message) -> Mapping[str, str]:
    sender = "owner" if message.sender == "human" else "assistant"
    who = "app" if message.from_integration else sender
    return {"sender": who, "text": message.text[:SAID_CHARS]}


def short_summary(text: str) -> str:
    """Fit a summary to its limits, whatever the model says."""
    paragraphs = re.split(r"\n\s*\n", visible(text).strip())
    return "\n\n".join(paragraphs[:SUMMARY_PARAGRAPHS])[:SUMMARY_CHARS].strip()


def _prompt(name: str, data: Mapping[str, Any]) -> Prompt:
    full = f"chat/{name}"
    return Prompt(
        name=full, version=prompts.version(full), instructions=prompts.render(full), data=data
    )
