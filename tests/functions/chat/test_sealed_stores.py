"""Sealed chats on each store: begun, answered, sent again, synced, deleted and forgotten (M87)."""

from asyncio import gather
from dataclasses import replace

import pytest

from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.system_clock import RandomIds
from shared.ports import Documents
from tests.fakes import ScriptedModel, script_answer
from tests.fixtures.chat import build_chat_fixture
from tests.functions.chat.sealed_client import (
    ask,
    begin,
    find_reason,
    list_messages,
    read_text,
    resend,
)
from tests.functions.chat.test_message_routes import open_chat
from tests.functions.chat.test_pairing import start, take
from tests.functions.chat.test_sealed_sync import build_message, put, sync_all


@pytest.fixture(autouse=True)
def forbid_blocking_calls() -> None:
    """Allow the emulator's client to connect in the event loop."""
    return


async def test_a_chat_lives_through_all_of_it_on_each_store_m87(
    any_documents: Documents, database: SqliteDatabase
) -> None:
    world = build_chat_fixture(database, any_documents)
    with ScriptedModel(*[script_answer("Upstairs.")] * 2) as model:
        async with open_chat(replace(world.deps(model), new_id=RandomIds())) as http:
            chats = []
            for _ in range(4):
                world.clock.advance(seconds=1)
                chats.append(await begin(http))
                if len(chats) == 1:
                    await ask(http, chats[0], "Where is it?")
                    kept = await list_messages(http, chats[0])
            waiting = await ask(http, chats[0], "And the other?")
            run_id = waiting.headers["x-run-id"]
            answer = await resend(http, run_id, "And the other?", kept)
            messages = [build_message(chats[0], number) for number in range(3)]
            await put(http, chats[0], messages=messages)
            everything, cursor = await sync_all(http, 3)
            world.clock.advance(minutes=2)
            await http.delete(f"/v2/chat-sessions/{chats[0]}")
            later, _ = await sync_all(http, 3, cursor)
            forgotten = await http.delete("/v2/sealed-cache")

    assert (find_reason(waiting), read_text(answer)) == ("cache_miss", "Upstairs.")
    assert {len(synced["messages"]) for synced in everything} == {0, 3}
    assert later[-1]["chat"]["is_deleted"]
    assert forgotten.status_code == 200


async def test_of_two_at_once_one_gets_the_keys_on_each_store_m83(
    any_documents: Documents, database: SqliteDatabase
) -> None:
    world = build_chat_fixture(database, any_documents)
    async with open_chat(world.deps()) as http:
        await start(http)
        answers = await gather(*(take(http) for _ in range(4)))

    assert sorted(answer.status_code for answer in answers) == [200, 404, 404, 404]
