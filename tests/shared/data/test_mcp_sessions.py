"""MCP sessions: whose they are, when they end, and answers that each reach a stream once (R7)."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.data.apps.mcp_sessions import MAX_TAKEN_REPLIES, McpSessions, build_session_id
from shared.domain.apps.mcp_session import SESSION_TTL, McpReply, McpSession
from shared.domain.errors import NotAllowed, NotFound
from shared.domain.ids import UserId
from shared.ports import Documents

ALICE, BOB = UserId("alice"), UserId("bob")
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
SESSION_ID = build_session_id(ALICE, "random")


async def begin(documents: Documents) -> McpSessions:
    sessions = McpSessions(documents)
    session = McpSession(id=SESSION_ID, created_at=NOW, expires_at=NOW + SESSION_TTL)
    await sessions.begin(ALICE, session)
    return sessions


def build_reply(number: int) -> McpReply:
    at = NOW + timedelta(seconds=number)
    return McpReply(id=f"r{number}", at=at, text=str(number), expires_at=at)


async def test_a_session_is_its_users_until_it_expires_r7(documents: Documents):
    sessions = await begin(documents)

    await sessions.check(ALICE, SESSION_ID, NOW + SESSION_TTL - timedelta(seconds=1))
    with pytest.raises(NotAllowed):
        await sessions.check(BOB, SESSION_ID, NOW)
    with pytest.raises(NotFound):
        await sessions.check(ALICE, SESSION_ID, NOW + SESSION_TTL)


@pytest.mark.parametrize("name", ["", "made-up", "../alice", "__x__", build_session_id(BOB, "x")])
async def test_a_session_that_never_began_is_unknown_to_its_own_user_r7(
    documents: Documents, name: str
):
    sessions = await begin(documents)

    with pytest.raises(NotFound):
        await sessions.check(BOB, name, NOW)


async def test_waiting_answers_are_taken_once_oldest_first_r7(documents: Documents):
    sessions = await begin(documents)
    numbers = list(range(MAX_TAKEN_REPLIES + 2))
    for number in reversed(numbers):
        await sessions.add_reply(ALICE, SESSION_ID, build_reply(number))

    taken = [await sessions.take_replies(ALICE, SESSION_ID) for _ in range(3)]

    texts = [[int(reply.text) for reply in replies] for replies in taken]
    assert texts == [numbers[:MAX_TAKEN_REPLIES], numbers[MAX_TAKEN_REPLIES:], []]


async def test_an_ended_session_takes_its_waiting_answers_along_r7(documents: Documents):
    sessions = await begin(documents)
    await sessions.add_reply(ALICE, SESSION_ID, build_reply(1))

    await sessions.end(ALICE, SESSION_ID)

    assert await sessions.take_replies(ALICE, SESSION_ID) == []
    with pytest.raises(NotFound):
        await sessions.check(ALICE, SESSION_ID, NOW)
