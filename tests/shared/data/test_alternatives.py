"""Alternatives in both stores: a choice exchanges two answers, whole (X31)."""

import pytest

from shared.data.chats.alternatives import build_alternative_writes
from shared.data.stores import Stores
from shared.domain.chats.chat import Message, build_session
from shared.domain.errors import Conflict
from shared.domain.ids import MessageId, SessionId, UserId
from shared.ports import Documents
from tests.fakes import FixedClock

ANN = UserId("ann")
NOW = FixedClock().now()
CHAT = build_session(SessionId("work"), app_id=None, now=NOW)


def build_answer(name: str, text: str, **fields: int) -> Message:
    return Message(
        id=MessageId(name), session_id=CHAT.id, text=text, sender="ai", created_at=NOW,
        voices=("large", "small"), **fields,  # type: ignore[arg-type]
    )  # fmt: skip


async def test_a_choice_exchanges_two_answers_while_nothing_follows_x31(
    any_documents: Documents,
) -> None:
    stores = Stores(any_documents)
    main, other = build_answer("r1", "One."), build_answer("r1", "Two.", voice=1)
    await stores.sessions.add(ANN, CHAT)
    also = build_alternative_writes(ANN, main.id, {1: other})
    await stores.messages.add(ANN, CHAT, main, also=also)
    session = await stores.sessions.get(ANN, CHAT.id)
    assert session is not None

    chosen = [await stores.alternatives.choose(ANN, session, main.id, 1) for _ in range(2)]
    await stores.messages.add(ANN, CHAT, build_answer("r2", "Later."))
    with pytest.raises(Conflict):
        await stores.alternatives.choose(ANN, session, main.id, 0)

    assert chosen == [other, other]
    assert await stores.messages.get(ANN, main.id) == other
    assert await stores.alternatives.list_all(ANN, main.id) == [main]
