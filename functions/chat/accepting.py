"""A question is accepted or refused, with everything its answer needs."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from itertools import islice

from functions.chat.context import history, prompt
from functions.chat.gate import Gate, gate_of
from functions.chat.hold import Hold
from functions.chat.repeats import Key, check_new
from functions.chat.sessions import find, visible_app
from functions.chat.tools.apps import app_tools
from functions.chat.tools.library import library_tools
from functions.chat.tools.services import service_tools
from functions.chat.tools.tasks import task_tools
from functions.chat.tools.toolkit import Tool
from functions.chat.wiring import ChatDeps
from shared.domain.app import App
from shared.domain.chat import Message, Session, main_session
from shared.domain.connection import Connection
from shared.domain.errors import Invalid, TooLarge
from shared.domain.ids import AppId, RunId, SessionId, UserId
from shared.domain.model import ModelMessage, ModelRole
from shared.domain.run import question_id
from shared.domain.text import visible
from shared.domain.value import value

MAX_QUESTION_CHARS = 20_000
EARLIER_WORDS = 3
"""So many earlier messages of the owner's help to choose among many tools."""


@value
class Turn:
    """A question that was accepted, with everything its answer needs."""

    uid: UserId
    run_id: RunId
    session: Session
    question: Message
    role: ModelRole
    messages: Sequence[ModelMessage]
    tools: Sequence[Tool]
    gate: Gate
    hold: Hold
    can_ask: bool
    fingerprint: str = ""


async def prepare(
    deps: ChatDeps,
    uid: UserId,
    text: str,
    app_id: AppId | None,
    session_id: SessionId | None = None,
    *,
    key: Key | None = None,
    can_ask: bool = False,
) -> Turn:
    """Accept a question or refuse it: reads documents in two rounds, writes nothing.

    `can_ask` says that the client can show its owner a question while the answer goes on.

    Raises Invalid (nothing to read), TooLarge (over MAX_QUESTION_CHARS), NotFound (no such app or
    chat session), TooMany (over MAX_RUNS), Repeated.
    """
    text = _accepted(text)
    now = deps.clock.now()
    session_id = session_id or main_session(app_id)
    run_id = key.run_id(uid) if key else RunId(deps.new_id())
    profile, session, newest, installed, connected, _ = await asyncio.gather(
        deps.profiles.get(uid),
        find(deps, uid, app_id, session_id),
        deps.messages.newest(uid, session_id, limit=history.READ),
        deps.installed_apps.all(uid),
        deps.connections.all(uid),
        check_new(deps, uid, run_id, key),
    )
    app, allowed = await _apps(deps, uid, session.app_id, [one.app_id for one in installed])
    deps.live.check_room(uid)
    shown = history.window(newest, session)
    persona = app if app is not None and app.persona_prompt is not None else None
    return Turn(
        uid=uid,
        run_id=run_id,
        session=session,
        question=_question(run_id, session, text, now),
        role=persona.persona_model if persona else "agent",
        messages=prompt.build(
            text, history=shown, summary=session.summary, profile=profile, app=app, now=now
        ),
        tools=[]
        if persona
        else _tools(deps, uid, connected, allowed, (text, *_owners_words(newest))),
        gate=gate_of(text, history=shown, session=session, app=app),
        hold=Hold(stored=False),
        can_ask=can_ask,
        fingerprint=key.fingerprint if key else "",
    )


def _accepted(text: str) -> str:
    if len(text) > MAX_QUESTION_CHARS:
        raise TooLarge(
            f"Your message is too long: {len(text)} characters, at most {MAX_QUESTION_CHARS}."
        )
    text = visible(text).strip()
    if not text:
        raise Invalid("Your message is empty. Please write a question.")
    return text


async def _apps(
    deps: ChatDeps, uid: UserId, chats: AppId | None, installed: Sequence[AppId]
) -> tuple[App | None, list[App]]:
    """Return the app a chat belongs to, as it stands, and the apps that serve tools, in one round."""
    owns, allowed = await asyncio.gather(
        deps.apps.get_many([chats] if chats else []), deps.offered_apps.get_many(installed)
    )
    return (None if chats is None else visible_app(next(iter(owns), None), uid)), allowed


def _owners_words(newest_first: Sequence[Message]) -> list[str]:
    """Return what the owner said last, before this question."""
    said = (message.text for message in newest_first if message.sender == "human")
    return list(islice(said, EARLIER_WORDS))


def _question(run_id: RunId, session: Session, text: str, now: datetime) -> Message:
    return Message(
        id=question_id(run_id),
        session_id=session.id,
        text=text,
        sender="human",
        created_at=now,
        app_id=session.app_id,
    )


def _tools(
    deps: ChatDeps,
    uid: UserId,
    connected: Sequence[Connection],
    allowed: Sequence[App],
    said: Sequence[str],
) -> list[Tool]:
    """Offer what the owner's words, the newest first, may need."""
    question, *earlier = said
    return [
        *library_tools(deps, uid),
        *task_tools(deps, uid),
        *service_tools(deps, uid, connected),
        *app_tools(deps.toolbox, uid, allowed, question, earlier),
    ]
