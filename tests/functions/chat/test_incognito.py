"""Incognito chats: they go on while their process lives, and leave nothing behind (C68)."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from anyio import to_thread

from functions.chat.runs.incognito_chats import (
    MAX_CHATS,
    MAX_CHATS_OF_USER,
    MAX_MESSAGES,
    IncognitoChats,
)
from functions.chat.sessions.chat_sessions import INCOGNITO_GONE
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.domain.account.quota import EMBEDDED_LIMITS
from shared.domain.chats.chat import build_session
from shared.domain.chats.storage_mode import is_incognito
from shared.domain.ids import SessionId, UserId
from shared.domain.models.model import AssistantTurn, UserText
from shared.domain.store.documents import Query
from shared.ports import Documents
from tests.fakes import ScriptedModel, ScriptedTranscriber, script_answer, script_calls
from tests.fixtures.chat import ADA, EVE, ChatFixture, build_chat_fixture
from tests.functions.chat.library import build_conversation, store_conversations
from tests.functions.chat.test_crisis_gate import CERTAIN, list_events
from tests.functions.chat.test_message_routes import open_chat
from tests.functions.chat.test_versions import UI
from tests.functions.chat.test_voice_routes import speak
from tests.log import capture_log
from tests.old_app import parse_as_fixed_app

SECRET = "xylophone"
QUESTION = f"Where is my {SECRET}?"
ANSWER = f"The {SECRET} is in the attic."


@pytest.fixture
def world(file_database: SqliteDatabase) -> ChatFixture:
    """Store in a file: its bytes are searched."""
    return build_chat_fixture(file_database)


async def begin(http: httpx.AsyncClient) -> str:
    answer = await http.post("/v2/chat-sessions", json={"storage_mode": "incognito"})
    assert answer.json().get("storage_mode") == "incognito", answer.text
    session_id: str = answer.json()["id"]
    return session_id


async def ask(
    world: ChatFixture, http: httpx.AsyncClient, session_id: str, text: str = QUESTION, **body: Any
) -> httpx.Response:
    world.clock.advance(seconds=5)
    return await http.post(
        "/v2/messages", json={"text": text, **body}, params={"chat_session_id": session_id}
    )


async def list_texts(http: httpx.AsyncClient, **params: str) -> list[str]:
    return [m["text"] for m in (await http.get("/v2/messages", params=params)).json()]


async def read_files(folder: Path) -> bytes:
    return await to_thread.run_sync(_read_files, folder)


def _read_files(folder: Path) -> bytes:
    content = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert content, "nothing is kept in this folder"
    return content


async def test_nothing_of_it_is_on_the_disk_in_a_task_an_event_or_the_log_c68(
    world: ChatFixture, tmp_path: Path
) -> None:
    await store_conversations(world, ADA, build_conversation(1, "Ann likes Lisbon."))
    search = script_calls(("search_conversations", {"query": f"the {SECRET}"}))
    with (
        capture_log() as log,
        ScriptedModel(search, script_answer(ANSWER), script_answer(ANSWER)) as model,
    ):
        async with open_chat(world.deps(model)) as http:
            session_id = await begin(http)
            await ask(world, http, session_id)
            await ask(world, http, session_id, client_message_id="k1")
            shown = await list_texts(http, chat_session_id=session_id)

    assert shown == [ANSWER, QUESTION, ANSWER, QUESTION]
    stored = await read_files(tmp_path)
    for text in (SECRET, "attic"):
        assert text.encode() not in stored
        assert text not in log.text
    assert b"Lisbon" in stored, "what is stored can be found this way"
    assert (world.events.published, world.tasks.created) == ([], [])


async def test_the_chat_goes_on_c68(world: ChatFixture) -> None:
    with ScriptedModel(script_answer(ANSWER), script_answer("Upstairs.")) as model:
        async with open_chat(world.deps(model)) as http:
            session_id = await begin(http)
            await ask(world, http, session_id)
            await ask(world, http, session_id, "Where is that?")

    texts = [m.text for m in model.calls[1].messages if isinstance(m, UserText | AssistantTurn)]
    assert texts[:2] == [QUESTION, ANSWER]


async def test_no_list_and_no_search_shows_it_c68(world: ChatFixture) -> None:
    with ScriptedModel(script_answer(ANSWER), script_answer("Hi.")) as model:
        async with open_chat(world.deps(model)) as http:
            session_id = await begin(http)
            await ask(world, http, session_id)
            await http.post("/v2/messages", json={"text": "Hello"})
            listed = (await http.get("/v2/chat-sessions")).json()
            main = await list_texts(http)
            found = await http.get("/v1/chats/search", params={"query": SECRET})

    assert [chat["id"] for chat in listed] == ["main"]
    assert main == ["Hi.", "Hello"]
    assert SECRET not in found.text


async def test_it_has_no_tool_that_writes_c68(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Yes."), script_answer("Yes.")) as model:
        async with open_chat(world.deps(model)) as http:
            await ask(world, http, await begin(http))
            await ask(world, http, "main")

    incognito, managed = ({tool.name for tool in call.tools} for call in model.calls)
    assert {"search_conversations", "search_memories"} <= incognito
    assert {"remember", "create_action_item"} <= managed - incognito


async def test_with_its_process_it_is_gone_c68(
    world: ChatFixture, file_database: SqliteDatabase
) -> None:
    with ScriptedModel(script_answer(ANSWER)) as model:
        async with open_chat(world.deps(model)) as http:
            session_id = await begin(http)
            await ask(world, http, session_id)

    another = build_chat_fixture(file_database)
    async with open_chat(another.deps()) as http:
        listed = await http.get("/v2/messages", params={"chat_session_id": session_id})
        answer = await ask(another, http, session_id)
        refused = await http.post(
            "/v2/messages", json={"text": "Hi"}, params={"chat_session_id": session_id, **UI}
        )

    assert (listed.status_code, listed.json()["detail"]) == (404, INCOGNITO_GONE)
    assert parse_as_fixed_app([answer.content]).text == INCOGNITO_GONE
    assert refused.status_code == 404


async def test_an_hour_of_silence_ends_it_c68(world: ChatFixture) -> None:
    with ScriptedModel(script_answer(ANSWER)) as model:
        async with open_chat(world.deps(model)) as http:
            session_id = await begin(http)
            await ask(world, http, session_id)
            world.clock.advance(hours=1, seconds=1)
            answer = await http.get("/v2/messages", params={"chat_session_id": session_id})

    assert answer.status_code == 404
    assert await world.memory.get(f"users/{ADA}/chat_sessions/{session_id}") is None


async def test_the_oldest_of_too_many_leaves_with_its_messages_c68(world: ChatFixture) -> None:
    with ScriptedModel(script_answer(ANSWER)) as model:
        async with open_chat(world.deps(model)) as http:
            first = await begin(http)
            answer = await ask(world, http, first)
            for _ in range(MAX_CHATS_OF_USER):
                await begin(http)
            gone = await http.get("/v2/messages", params={"chat_session_id": first})

    assert gone.status_code == 404
    run_id = answer.headers["x-run-id"]
    paths = [f"users/{ADA}/{name}" for name in (f"messages/{run_id}", f"runs/{run_id}")]
    assert await world.memory.get_many(paths) == [None, None]


def test_a_process_holds_so_many_and_no_more_c68(world: ChatFixture) -> None:
    chats, now = IncognitoChats(), world.clock.now()
    keys = [(UserId(f"u{n}"), SessionId(f"s{n}")) for n in range(MAX_CHATS + 2)]

    leaving = [key for uid, session_id in keys for key in chats.use(uid, session_id, now)]

    assert leaving == keys[:2]


async def test_a_chat_that_is_full_says_so_c68(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        session_id = await begin(http)
        await world.memory.delete_tree(f"users/{ADA}/chat_sessions/{session_id}")
        chat = build_session(SessionId(session_id), app_id=None, now=world.clock.now())
        full = replace(chat, message_count=MAX_MESSAGES)
        await world.deps().stores.sessions.add(ADA, full)
        answer = await ask(world, http, session_id)

    assert "at most 200 messages" in parse_as_fixed_app([answer.content]).text


@pytest.mark.parametrize("path", ["/v2/messages", "/v1/chats/search"])
async def test_another_user_finds_nothing_c68(world: ChatFixture, path: str) -> None:
    with ScriptedModel(script_answer(ANSWER)) as model:
        async with open_chat(world.deps(model)) as http:
            session_id = await begin(http)
            answer = await ask(world, http, session_id)
        run_id = answer.headers["x-run-id"]
        async with open_chat(world.deps(), EVE) as http:
            listed = await http.get(path, params={"chat_session_id": session_id, "query": SECRET})
            followed = await http.get(f"/v2/messages/{run_id}/stream")

    assert SECRET not in listed.text
    assert followed.status_code == 404


async def test_a_repeat_and_a_resume_find_the_run_c68(world: ChatFixture) -> None:
    with ScriptedModel(script_answer(ANSWER)) as model:
        async with open_chat(world.deps(model)) as http:
            session_id = await begin(http)
            first = await ask(world, http, session_id, client_message_id="k1")
            again = await ask(world, http, session_id, client_message_id="k1")
            run_id = first.headers["x-run-id"]
            resumed = await http.get(f"/v2/messages/{run_id}/stream")

    assert is_incognito(run_id)
    assert again.headers["x-run-id"] == run_id
    assert SECRET in resumed.text


async def test_a_crisis_is_logged_without_its_user_c47(world: ChatFixture) -> None:
    with ScriptedModel() as model:
        async with open_chat(world.deps(model)) as http:
            await ask(world, http, await begin(http), CERTAIN)

    [event] = await list_events(world)
    assert (event["level"], event["user"]) == (3, None)


async def test_a_quota_answer_stays_in_memory_c68(world: ChatFixture, tmp_path: Path) -> None:
    deps = world.deps(quotas={**EMBEDDED_LIMITS, "turns": 0})
    async with open_chat(deps) as http:
        session_id = await begin(http)
        await ask(world, http, session_id)
        shown = await list_texts(http, chat_session_id=session_id)

    stored = await read_files(tmp_path)
    assert shown[-1] == QUESTION
    assert SECRET.encode() not in stored


@pytest.mark.parametrize("turns", [0, 9])
async def test_what_is_spoken_stays_in_memory_c68(world: ChatFixture, turns: int) -> None:
    words, quotas = [("A", 0.0, 1.0, QUESTION)], {**EMBEDDED_LIMITS, "turns": turns}
    with ScriptedModel(*[script_answer(ANSWER)] * bool(turns)) as model:
        transcriber = ScriptedTranscriber([words])
        deps = world.deps(model, transcriber=transcriber, quotas=quotas)
        async with open_chat(deps) as http:
            session_id = await begin(http)
        screen = await speak(deps, chat_session_id=session_id)

    stored = await world.documents.query(Query(collection=f"users/{ADA}/idempotency"))
    assert stored == []
    assert (screen.question is not None) is bool(turns)


async def test_a_greeting_stays_in_memory_c68(world: ChatFixture) -> None:
    await world.deps().stores.profiles.change(ADA, name="Adelheid")
    async with open_chat(world.deps()) as http:
        session_id = await begin(http)
        await http.post("/v2/initial-message", params={"chat_session_id": session_id})

    assert await find_ids(world.documents) == []
    assert len(await find_ids(world.memory)) == 1


async def find_ids(documents: Documents) -> list[str]:
    query = Query(collection=f"users/{ADA}/messages")
    return [document.id for document in await documents.query(query)]
