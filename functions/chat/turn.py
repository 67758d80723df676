"""One turn: a question comes in, an answer streams out and is stored before its end is told."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing, suppress
from datetime import timedelta

import anyio

from functions.chat import guards
from functions.chat.after_turn import tell
from functions.chat.agent import Agent, AgentEvent
from functions.chat.app_tools import app_tools
from functions.chat.context import history, prompt
from functions.chat.context.citations import cite
from functions.chat.hold import Hold
from functions.chat.journal import Journal
from functions.chat.library_tools import library_tools
from functions.chat.sessions import find, visible_app
from functions.chat.task_tools import task_tools
from functions.chat.toolkit import Tool, Toolkit
from functions.chat.wiring import ChatDeps
from shared import prompts, telemetry
from shared.domain.app import App
from shared.domain.chat import Card, Message, Session, main_session
from shared.domain.errors import AlreadyExists, Invalid, TooLarge
from shared.domain.ids import AppId, MessageId, RunId, SessionId, UserId
from shared.domain.model import ModelMessage, ModelRole
from shared.domain.run import CitationShown, Ended, Outcome, Said
from shared.domain.text import visible
from shared.domain.value import value

MAX_QUESTION_CHARS = 20_000
SAVE_TIMEOUT_S = 8.0


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
    hold: Hold


async def prepare(
    deps: ChatDeps,
    uid: UserId,
    text: str,
    app_id: AppId | None,
    session_id: SessionId | None = None,
) -> Turn:
    """Accept a question or refuse it: reads documents in two rounds, writes nothing.

    Raises Invalid (nothing to read), TooLarge (over MAX_QUESTION_CHARS), NotFound (no such app or
    chat session).
    """
    text = _accepted(text)
    now = deps.clock.now()
    session_id = session_id or main_session(app_id)
    profile, session, newest, installed = await asyncio.gather(
        deps.profiles.get(uid),
        find(deps, uid, app_id, session_id),
        deps.messages.newest(uid, session_id, limit=history.READ),
        deps.installed_apps.all(uid),
    )
    app, allowed = await _apps(deps, uid, session.app_id, [one.app_id for one in installed])
    persona = app is not None and app.persona_prompt is not None
    tools = []
    if not persona:
        tools = [
            *library_tools(deps, uid),
            *task_tools(deps, uid),
            *app_tools(deps.toolbox, uid, allowed),
        ]
    return Turn(
        uid=uid,
        run_id=RunId(deps.new_id()),
        session=session,
        question=Message(
            id=MessageId(deps.new_id()),
            session_id=session.id,
            text=text,
            sender="human",
            created_at=now,
            app_id=session.app_id,
        ),
        role=app.persona_model if app is not None and persona else "agent",
        messages=prompt.build(
            text,
            history=history.window(newest, session),
            summary=session.summary,
            profile=profile,
            app=app,
            now=now,
        ),
        tools=tools,
        hold=Hold(),
    )


async def _apps(
    deps: ChatDeps, uid: UserId, chats: AppId | None, installed: Sequence[AppId]
) -> tuple[App | None, list[App]]:
    """Return the app a chat belongs to and the apps that serve tools, read in one round."""
    ids = installed if chats is None else [*installed, chats]
    apps = {app.id: app for app in await deps.apps.get_many(list(dict.fromkeys(ids)))}
    allowed = [apps[app_id] for app_id in installed if app_id in apps]
    return (None if chats is None else visible_app(apps.get(chats), uid)), allowed


async def answer(deps: ChatDeps, turn: Turn, journal: Journal) -> None:
    """Answer, store, tell the end: exactly one Ended on every path, and no failure raised.

    A cancelled run stores what it has said so far, and only then lets itself be cancelled.
    """
    work = _Work(deps=deps, turn=turn, journal=journal)
    outcome: Outcome = "interrupted"
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(turn.hold.decide)
            tasks.start_soon(work.store_question)
            outcome = await work.speak()
    finally:
        with anyio.CancelScope(shield=True):
            await work.end(outcome)


def _accepted(text: str) -> str:
    if len(text) > MAX_QUESTION_CHARS:
        raise TooLarge(
            f"Your message is too long: {len(text)} characters, at most {MAX_QUESTION_CHARS}."
        )
    text = visible(text).strip()
    if not text:
        raise Invalid("Your message is empty. Please write a question.")
    return text


class _Work:
    """What an answer in progress has said and stored."""

    def __init__(self, *, deps: ChatDeps, turn: Turn, journal: Journal) -> None:
        self._deps = deps
        self._turn = turn
        self._journal = journal
        self._said: list[str] = []
        self._shown: list[Card] = []
        self._question_stored = False
        self._agent = Agent(
            model=deps.model,
            role=turn.role,
            toolkit=Toolkit(turn.tools, timeout_s=deps.limits.call_timeout_s),
            hold=turn.hold,
            limits=deps.limits,
        )

    async def store_question(self) -> None:
        """Store the question beside the first model call; the end tries again if this fails."""
        try:
            with anyio.CancelScope(shield=True), anyio.fail_after(SAVE_TIMEOUT_S):
                await self._deps.messages.add(
                    self._turn.uid, self._turn.session, self._turn.question
                )
            self._question_stored = True
        except Exception as error:  # noqa: BLE001 - the end tells what became of the turn
            telemetry.warning("question_not_stored", error=type(error).__name__)

    async def speak(self) -> Outcome:
        """Run the agent into the journal."""
        try:
            with anyio.fail_after(self._deps.limits.deadline_s):
                async with aclosing(self._agent.run(self._turn.messages)) as events:
                    async for event in events:
                        self._tell(event)
        except TimeoutError:
            return self._apologise(guards.TOO_LATE, "limited")
        except Exception:  # noqa: BLE001 - after the first byte nothing raises
            telemetry.error("turn_failed")
            return self._apologise(guards.BROKEN, "failed")
        if not self._said:
            return self._apologise(guards.EMPTY, "failed")
        return "limited" if self._agent.stopped else "completed"

    def _apologise(self, text: str, outcome: Outcome) -> Outcome:
        self._tell(Said(f"\n\n{text}" if self._said else text))
        return outcome

    def _tell(self, event: AgentEvent) -> None:
        match event:
            case Said(text):
                self._said.append(text)
            case CitationShown(card=card):
                self._shown.append(card)
        self._journal.append(event)

    async def end(self, outcome: Outcome) -> None:
        """Store the answer, whole or partial, and tell the end."""
        if not self._said:
            self._apologise(guards.INTERRUPTED, outcome)
        message = self._message(outcome)
        try:
            with anyio.fail_after(SAVE_TIMEOUT_S):
                await self._store(message)
        except Exception:  # noqa: BLE001 - the end is told whatever the store does
            telemetry.error("answer_not_stored", run_id=self._turn.run_id)
            outcome = "failed"
        self._note(outcome)
        self._journal.append(Ended(message, outcome))
        await tell(self._deps.events, self._turn.uid, message.session_id, self._turn.run_id)

    async def _store(self, message: Message) -> None:
        """Add the question where it is missing: it may be there though nobody heard of it."""
        uid, session = self._turn.uid, self._turn.session
        if not self._question_stored:
            with suppress(AlreadyExists):
                return await self._deps.messages.add(uid, session, self._turn.question, message)
        return await self._deps.messages.add(uid, session, message)

    def _message(self, outcome: Outcome) -> Message:
        cited = cite("".join(self._said), self._shown)
        asked = self._turn.question
        return Message(
            id=MessageId(self._turn.run_id),
            session_id=asked.session_id,
            text=cited.text,
            marked_text=cited.marked_text,
            sender="ai",
            created_at=max(self._deps.clock.now(), asked.created_at + timedelta(milliseconds=1)),
            app_id=asked.app_id,
            memories_id=tuple(card.id for card in cited.cards),
            cards=cited.cards,
            metadata={"model": self._deps.model.name(self._turn.role), "outcome": outcome},
        )

    def _note(self, outcome: Outcome) -> None:
        telemetry.note(
            outcome=outcome,
            prompt=prompts.version("chat/system"),
            model=self._deps.model.name(self._turn.role),
            cycles=self._agent.cycles,
            tool_calls=len(self._agent.calls),
            input_tokens=self._agent.usage.input_tokens,
            cached_tokens=self._agent.usage.cached_tokens,
            output_tokens=self._agent.usage.output_tokens,
        )
