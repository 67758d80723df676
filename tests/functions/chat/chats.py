"""Chats of tests: stored messages, and after-turn work."""

from typing import Any

from functions.chat.deps import AfterTurnDeps
from shared.data.account.quotas import Quotas
from shared.data.stores import Stores
from shared.domain.chats.chat import MAIN_SESSION, Message, Session, build_session
from shared.domain.ids import MessageId, SessionId
from shared.ports import ChatModel
from tests.fakes import UnmaskedModels
from tests.fixtures.callers import IDENTITY, SERVICE_IDENTITY
from tests.fixtures.chat import ADA, ChatFixture

NOTES, SUMMARY = "chat/notes", "chat/summary"
WORK = SessionId("work")
GONE_ANSWER = MessageId("gone")
"""An answer that gets no notes, where a test is about the rest of the work after a turn."""


def build_after_turn_deps(world: ChatFixture, model: ChatModel) -> AfterTurnDeps:
    return AfterTurnDeps(
        tasks=world.tasks,
        identity=IDENTITY,
        service_identity=SERVICE_IDENTITY,
        clock=world.clock,
        model=UnmaskedModels(model=model),
        stores=Stores(world.documents),
        quotas=Quotas(world.documents, {}),
        meanings=world.meanings,
    )


async def store_messages(
    world: ChatFixture, *texts: str, session_id: SessionId = MAIN_SESSION
) -> list[Message]:
    """Store messages, alternately of the owner and the assistant."""
    messages = []
    session = build_session(session_id, app_id=None, now=world.clock.now())
    if not session.is_main and await world.deps().stores.sessions.get(ADA, session_id) is None:
        await world.deps().stores.sessions.add(ADA, session)
    for n, text in enumerate(texts):
        world.clock.advance(seconds=1)
        now = world.clock.now()
        message_id = MessageId(f"{session_id}-{now:%H%M%S}-{n}")
        sender = "ai" if n % 2 else "human"
        messages.append(
            Message(id=message_id, session_id=session_id, text=text, sender=sender, created_at=now)  # type: ignore[arg-type]
        )
        await world.deps().stores.messages.add(ADA, session, messages[-1])
    return messages


async def load_session(world: ChatFixture, session_id: SessionId = MAIN_SESSION) -> Session:
    session = await world.deps().stores.sessions.get(ADA, session_id)
    assert session is not None
    return session


def script_notes(*outputs: object) -> dict[str, Any]:
    return {NOTES: list(outputs)}


def number_texts(count: int) -> list[str]:
    return [f"text {n}" for n in range(count)]


def script_summaries(*texts: str) -> dict[str, Any]:
    return {SUMMARY: [{"summary": text} for text in texts]}
