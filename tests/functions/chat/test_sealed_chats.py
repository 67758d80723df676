"""Sealed chats: answered from a cache that nobody else reads, or from what their clients send again (M88)."""

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from functions.chat.api.resend_schemas import MAX_HISTORY_MESSAGES
from functions.chat.deps import ChatDeps
from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.system_clock import RandomIds
from shared.domain.chats.storage_mode import belongs_to
from shared.domain.models.model import AssistantTurn, UserText
from shared.domain.store.documents import Query
from shared.ports import ChatModel
from shared.safety.crisis_plan import NOT_ALONE
from tests.fakes import ScriptedModel, script_answer, script_calls
from tests.fault_injection import FaultInjector, WatchedPort
from tests.fixtures.chat import ADA, EVE, ChatFixture, build_chat_fixture
from tests.functions.chat.library import build_conversation, store_conversations
from tests.functions.chat.sealed_client import (
    ask,
    begin,
    find_chunk,
    find_reason,
    list_messages,
    read_text,
    resend,
)
from tests.functions.chat.test_crisis_gate import CERTAIN, list_events
from tests.functions.chat.test_incognito import list_texts, read_files
from tests.functions.chat.test_message_routes import open_chat
from tests.log import capture_log
from tests.old_app import parse_as_fixed_app

MAX_CALLS = 13
"""Calls of the store until the answer is stored, at least."""
SECRET = "xylophone"
QUESTION = f"Where is my {SECRET}?"
ANSWER = f"The {SECRET} is in the attic."


@pytest.fixture
def world(file_database: SqliteDatabase) -> ChatFixture:
    """Store in a file: its bytes are searched."""
    return build_chat_fixture(file_database)


@pytest.fixture
async def answered(world: ChatFixture) -> AsyncIterator[tuple[httpx.AsyncClient, str]]:
    """A sealed chat with one answer."""
    with ScriptedModel(script_answer(ANSWER)) as model:
        async with open_chat(build_deps(world, model)) as http:
            session_id = await begin(http)
            assert read_text(await ask(http, session_id, QUESTION)) == ANSWER
            yield http, session_id


def build_deps(world: ChatFixture, model: ChatModel | None = None) -> ChatDeps:
    """Build an instance, whose ids are its own."""
    return replace(world.deps(model), new_id=RandomIds())


async def fill_cache(world: ChatFixture) -> None:
    """Use three other chats, so that an earlier one leaves."""
    async with open_chat(build_deps(world)) as http:
        for _ in range(3):
            world.clock.advance(seconds=1)
            await begin(http)


async def test_nothing_of_it_is_in_clear_in_a_file_a_task_an_event_or_the_log_m82(
    world: ChatFixture, tmp_path: Path
) -> None:
    await store_conversations(world, ADA, build_conversation(1, "Ann likes Lisbon."))
    search = script_calls(("search_conversations", {"query": f"the {SECRET}"}))
    with (
        capture_log() as log,
        ScriptedModel(search, script_answer(ANSWER), script_answer(ANSWER)) as model,
    ):
        async with open_chat(build_deps(world, model)) as http:
            session_id = await begin(http)
            await ask(http, session_id, QUESTION)
            world.clock.advance(seconds=5)
            answer = await ask(http, session_id, QUESTION, client_message_id="k1")
            run_id = answer.headers["x-run-id"]
            rating: dict[str, str | int] = {
                "message_id": run_id,
                "value": 1,
                "reason": f"no {SECRET}",
            }
            await http.post("/v1/users/analytics/chat_message", params=rating)
            shown = [message["text"] for message in await list_messages(http, session_id)]

    assert shown == [QUESTION, ANSWER, QUESTION, ANSWER]
    stored = await read_files(tmp_path)
    for text in (SECRET, "attic"):
        assert text.encode() not in stored
        assert text not in log.text
        assert text not in repr(world.tasks.created)
    assert world.events.published == []
    assert b"Lisbon" in stored, "what is stored can be found this way"


async def test_a_follow_up_reads_the_answer_from_the_cache_m85(world: ChatFixture) -> None:
    with ScriptedModel(script_answer(ANSWER), script_answer("Upstairs.")) as model:
        async with open_chat(build_deps(world, model)) as http:
            session_id = await begin(http)
            await ask(http, session_id, QUESTION)
            world.clock.advance(seconds=5)
            await ask(http, session_id, "Where is that?")

    texts = [m.text for m in model.calls[1].messages if isinstance(m, UserText | AssistantTurn)]
    assert texts[:2] == [QUESTION, ANSWER]


async def test_another_instance_answers_from_the_same_cache_m85(
    world: ChatFixture, file_database: SqliteDatabase, answered: tuple[httpx.AsyncClient, str]
) -> None:
    _, session_id = answered
    another = build_chat_fixture(file_database)
    another.clock.time = world.clock.now()
    another.clock.advance(seconds=5)
    with ScriptedModel(script_answer("Upstairs.")) as model:
        async with open_chat(build_deps(another, model)) as http:
            answer = await ask(http, session_id, "Where is that?")

    assert read_text(answer) == "Upstairs."
    assert QUESTION in repr(model.calls[0].messages)


async def test_no_list_and_no_search_shows_it_m82(answered: tuple[httpx.AsyncClient, str]) -> None:
    http, _ = answered
    listed = (await http.get("/v2/chat-sessions")).json()
    found = await http.get("/v1/chats/search", params={"query": SECRET})
    main = await list_texts(http)

    assert listed == []
    assert SECRET not in found.text
    assert SECRET not in str(main)


async def test_it_has_no_tool_that_writes_and_no_title_of_ours_m82(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Yes.")) as model:
        async with open_chat(build_deps(world, model)) as http:
            session_id = await begin(http)
            await ask(http, session_id, QUESTION)
            chat = (await http.get(f"/v2/chat-sessions/{session_id}")).json()

    offered = {tool.name for tool in model.calls[0].tools}
    assert "search_conversations" in offered
    assert not {"remember", "create_action_item"} & offered
    assert (chat["storage_mode"], chat["title"]) == ("client_encrypted", "New Chat")


async def test_a_chat_that_left_the_cache_asks_for_its_messages_m88(
    world: ChatFixture, answered: tuple[httpx.AsyncClient, str]
) -> None:
    _, session_id = answered
    await fill_cache(world)

    async with open_chat(build_deps(world)) as http:  # whose model refuses every call
        answer = await ask(http, session_id, "Where is that?")
        left = await list_messages(http, session_id)

    assert find_reason(answer) == "cache_miss"
    assert find_chunk(answer, "finish") == {
        "type": "finish",
        "messageMetadata": {"outcome": "waiting"},
    }
    assert answer.headers["x-run-id"].startswith(f"{session_id}-")
    assert left == []


async def test_the_fourth_chat_takes_the_place_of_the_one_used_longest_ago_m84(
    world: ChatFixture,
) -> None:
    answers = [script_answer(f"Answer {number}") for number in range(5)]
    with ScriptedModel(*answers) as model:
        async with open_chat(build_deps(world, model)) as http:
            chats = []
            for _ in range(3):
                world.clock.advance(seconds=1)
                chats.append(await begin(http))
                await ask(http, chats[-1], "Hello")
            world.clock.advance(seconds=1)
            await ask(http, chats[0], "Still here?")
            world.clock.advance(seconds=1)
            chats.append(await begin(http))
            world.clock.advance(seconds=1)
            reasons = [find_reason(await ask(http, chats[n], "And now?")) for n in (1, 0)]

    assert reasons == ["cache_miss", None]
    query = Query(collection=f"users/{ADA}/sealed_messages", fields=("session_id",))
    kept = {d.fields["session_id"] for d in await world.documents.query(query)}
    assert chats[1] not in kept


async def test_what_is_sent_again_is_cached_as_it_is_and_answered_by_the_same_run_m89(
    world: ChatFixture, answered: tuple[httpx.AsyncClient, str]
) -> None:
    http, session_id = answered
    kept = await list_messages(http, session_id)
    kept[1]["text"] = f"  {ANSWER} 👩‍🚀 \u202e [embed:{session_id}-e1] \r\n"
    await fill_cache(world)
    with ScriptedModel(script_answer("Upstairs.")) as model:
        async with open_chat(build_deps(world, model)) as again:
            waiting = await ask(again, session_id, "Where is that?", client_message_id="k1")
            run_id = waiting.headers["x-run-id"]
            repeat = await ask(again, session_id, "Where is that?", client_message_id="k1")
            resumed = await again.get(f"/v2/messages/{run_id}/stream")
            answer = await resend(again, run_id, "Where is that?", kept)
            shown = await list_messages(again, session_id)

    assert find_reason(repeat) == find_reason(resumed) == "cache_miss"
    assert repeat.headers["x-run-id"] == run_id
    assert (answer.headers["x-run-id"], read_text(answer)) == (run_id, "Upstairs.")
    assert shown[:2] == kept
    assert [message["id"] for message in shown[2:]] == [f"{run_id}-q", run_id]
    texts = [m.text for m in model.calls[0].messages if isinstance(m, UserText | AssistantTurn)]
    assert texts[0] == QUESTION
    assert f"[embed:{session_id}-e1]" in texts[1]


async def test_a_resend_that_comes_twice_is_answered_once_m88(
    world: ChatFixture, answered: tuple[httpx.AsyncClient, str]
) -> None:
    http, session_id = answered
    kept = await list_messages(http, session_id)
    await fill_cache(world)
    with ScriptedModel(script_answer("Upstairs.")) as model:
        async with open_chat(build_deps(world, model)) as again:
            waiting = await ask(again, session_id, "Where?")
            run_id = waiting.headers["x-run-id"]
            answers = [await resend(again, run_id, "Where?", kept) for _ in range(2)]
            shown = await list_messages(again, session_id)

    assert [read_text(answer) for answer in answers] == ["Upstairs."] * 2
    assert len(shown) == 4


async def test_a_missing_message_asks_for_all_of_them_m88(
    world: ChatFixture, answered: tuple[httpx.AsyncClient, str]
) -> None:
    http, session_id = answered
    [question, _] = await list_messages(http, session_id)
    await world.documents.delete_tree(f"users/{ADA}/sealed_messages/{question['id']}")

    async with open_chat(build_deps(world)) as again:
        answer = await ask(again, session_id, "Where?")

    assert find_reason(answer) == "insufficient_history"


async def test_after_a_day_it_is_gone_m84(
    world: ChatFixture, answered: tuple[httpx.AsyncClient, str]
) -> None:
    http, session_id = answered
    world.clock.advance(hours=24)

    assert find_reason(await ask(http, session_id, "Where?")) == "cache_miss"


async def test_what_cannot_be_decrypted_is_asked_for_m88(
    world: ChatFixture, answered: tuple[httpx.AsyncClient, str]
) -> None:
    http, session_id = answered
    kept = await list_messages(http, session_id)
    await world.documents.delete_tree(f"users/{ADA}/data_keys/sealed_cache")

    with ScriptedModel(script_answer("Upstairs.")) as model:
        async with open_chat(build_deps(world, model)) as again:
            waiting = await ask(again, session_id, "Where?")
            run_id = waiting.headers["x-run-id"]
            answer = await resend(again, run_id, "Where?", kept)

    assert find_reason(waiting) == "decryption_failed"
    assert read_text(answer) == "Upstairs."


async def test_its_owner_makes_the_server_forget_m91(
    world: ChatFixture, answered: tuple[httpx.AsyncClient, str]
) -> None:
    http, session_id = answered
    response = await http.delete("/v2/sealed-cache")
    answer = await ask(http, session_id, "Where?")

    assert response.status_code == 200
    assert find_reason(answer) == "cache_miss"
    for name in ("sealed_messages", "sealed_runs", "sealed_chat_sessions"):
        assert await world.documents.query(Query(collection=f"users/{ADA}/{name}")) == []


async def test_a_deleted_chat_is_gone_everywhere_m82(
    world: ChatFixture, answered: tuple[httpx.AsyncClient, str]
) -> None:
    http, session_id = answered
    await http.delete(f"/v2/chat-sessions/{session_id}")
    repeated = await http.delete(f"/v2/chat-sessions/{session_id}")
    unknown = await http.delete("/v2/chat-sessions/sealed-none")

    assert (repeated.status_code, unknown.status_code) == (200, 404)
    assert (await ask(http, session_id, "Where?")).status_code == 404
    assert (await http.get(f"/v2/chat-sessions/{session_id}/ciphertexts")).status_code == 404
    query = Query(collection=f"users/{ADA}/sealed_messages")
    assert await world.documents.query(query) == []


async def test_another_user_finds_nothing_m82(
    world: ChatFixture, answered: tuple[httpx.AsyncClient, str]
) -> None:
    http, session_id = answered
    kept = await list_messages(http, session_id)
    await fill_cache(world)
    async with open_chat(build_deps(world)) as owner:
        run_id = (await ask(owner, session_id, "Where?")).headers["x-run-id"]
    async with open_chat(build_deps(world), EVE) as stranger:
        statuses = [
            (await ask(stranger, session_id, "Where?")).status_code,
            (await resend(stranger, run_id, "Where?", kept)).status_code,
            (await stranger.get(f"/v2/messages/{run_id}/stream")).status_code,
            (await stranger.get(f"/v2/chat-sessions/{session_id}/ciphertexts")).status_code,
            (await stranger.delete(f"/v2/chat-sessions/{session_id}")).status_code,
        ]

    assert statuses == [404] * 5


def build_embed(session_id: str, answer_id: str, **fields: Any) -> dict[str, Any]:
    named = {"id": f"{session_id}-e1", "message_id": answer_id, "call_id": "call1"}
    about = {"type": "record", "source": {"kind": "service", "id": "web", "name": "Web"}}
    return {**named, **about, "version": 1, "content": json.dumps({"place": "loft"}), **fields}


async def test_embeds_are_sent_again_by_version_and_go_with_their_chat_m90(
    world: ChatFixture, answered: tuple[httpx.AsyncClient, str]
) -> None:
    http, session_id = answered
    [question, answer] = await list_messages(http, session_id)
    calls = [{"call_id": "call1", "tool": "search_web", "arguments": '{"query": "loft"}'}]
    kept = [question, {**answer, "calls": calls}]
    versions = [(2, "loft"), (2, "barn"), (1, "shed"), (3, "cellar")]
    contents, texts = [], []
    for version, place in versions:
        await world.documents.delete_tree(f"users/{ADA}/sealed_cache/chats")
        embed = build_embed(
            session_id, answer["id"], version=version, content=json.dumps({"place": place})
        )
        with ScriptedModel(script_answer("Yes.")) as model:
            async with open_chat(build_deps(world, model)) as again:
                run_id = (await ask(again, session_id, "Where?")).headers["x-run-id"]
                await resend(again, run_id, "Where?", kept, embeds=[embed])
                shown = await again.get(f"/v2/embeds/{session_id}-e1")
                contents.append(shown.json()[0]["content"]["place"])
        texts.append(repr(model.calls[0].messages))
        world.clock.advance(seconds=5)
    await fill_cache(world)

    assert contents == ["loft", "loft", "loft", "cellar"]
    assert [place in text for place, text in zip(contents, texts, strict=True)] == [True] * 4
    assert await world.documents.query(Query(collection=f"users/{ADA}/sealed_embeds")) == []


@pytest.mark.parametrize(
    "fields", [{"id": "sealed-other-e1"}, {"parent_id": "e2"}, {"embed_ids": ["e2"]}]
)
async def test_embeds_of_another_chat_are_refused_m90(
    world: ChatFixture, answered: tuple[httpx.AsyncClient, str], fields: dict[str, Any]
) -> None:
    http, session_id = answered
    kept = await list_messages(http, session_id)
    await fill_cache(world)
    async with open_chat(build_deps(world)) as again:
        run_id = (await ask(again, session_id, "Where?")).headers["x-run-id"]
        embeds = [build_embed(session_id, kept[1]["id"], **fields)]
        answer = await resend(again, run_id, "Where?", kept, embeds=embeds)

    assert answer.status_code == 422
    assert "is no id of this chat" in answer.text


async def test_a_call_of_a_tool_that_no_model_can_be_told_of_is_refused(
    world: ChatFixture, answered: tuple[httpx.AsyncClient, str]
) -> None:
    http, session_id = answered
    [question, answer] = await list_messages(http, session_id)
    calls = [{"call_id": "call1", "tool": "search the web"}]
    await fill_cache(world)
    async with open_chat(build_deps(world)) as again:
        run_id = (await ask(again, session_id, "Where?")).headers["x-run-id"]
        refusal = await resend(again, run_id, "Where?", [question, {**answer, "calls": calls}])

    assert refusal.status_code == 422
    assert "letters, digits, hyphens or underscores" in refusal.text


async def test_ids_of_calls_count_among_the_characters_that_are_cached_at_once(
    world: ChatFixture, answered: tuple[httpx.AsyncClient, str]
) -> None:
    http, session_id = answered
    [_, answer] = await list_messages(http, session_id)
    calls = [{"call_id": f"{n:0200}", "tool": "t" * 64} for n in range(20)]
    answers = [
        {**answer, "id": f"{session_id}-{n}", "calls": calls} for n in range(MAX_HISTORY_MESSAGES)
    ]
    await fill_cache(world)
    async with open_chat(build_deps(world)) as again:
        run_id = (await ask(again, session_id, "Where?")).headers["x-run-id"]
        refusal = await resend(again, run_id, "Where?", answers)

    assert refusal.status_code == 422
    assert "leave out" in refusal.text


def forge(messages: list[dict[str, Any]], **fields: Any) -> list[dict[str, Any]]:
    return [messages[0], {**messages[1], **fields}]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"id": "m1"}, "is no id of this chat"),
        ({"id": "sealed-other-m1"}, "is no id of this chat"),
        ({"sender": "human"}, "only questions end with -q"),
        ({"created_at": "2999-01-01T00:00:00Z"}, "is from the future"),
        ({"text": "x" * 100_001}, "100000 characters"),
        ({"created_at": "2026-01-01T00:00:00"}, "with its time zone"),
    ],
)
async def test_forged_messages_are_refused_m88(
    world: ChatFixture,
    answered: tuple[httpx.AsyncClient, str],
    fields: dict[str, Any],
    reason: str,
) -> None:
    http, session_id = answered
    kept = await list_messages(http, session_id)
    await fill_cache(world)
    async with open_chat(build_deps(world)) as again:
        run_id = (await ask(again, session_id, "Where?")).headers["x-run-id"]
        answer = await resend(again, run_id, "Where?", forge(kept, **fields))
        shown = await list_messages(again, session_id)

    assert answer.status_code in (400, 422), answer.text
    assert reason in answer.text
    assert shown == []


async def test_other_questions_and_long_histories_are_refused_m88(
    world: ChatFixture, answered: tuple[httpx.AsyncClient, str]
) -> None:
    http, session_id = answered
    kept = await list_messages(http, session_id)
    await fill_cache(world)
    async with open_chat(build_deps(world)) as again:
        run_id = (await ask(again, session_id, "Where?")).headers["x-run-id"]
        other = await resend(again, run_id, "Who?", kept)
        nothing = await resend(again, f"{session_id}-none", "Where?", kept)
        itself = [{**kept[0], "id": f"{run_id}-q"}]
        included = await resend(again, run_id, "Where?", itself)
        many = [{**kept[1], "id": f"{session_id}-{number}"} for number in range(401)]
        too_many = await resend(again, run_id, "Where?", many)
        long = [{**message, "text": "x" * 100_000} for message in many[:21]]
        too_long = await resend(again, run_id, "Where?", long)
        twice = await resend(again, run_id, "Where?", [kept[0], kept[0]])

    answers = [other, nothing, included, too_many, too_long, twice]
    assert [answer.status_code for answer in answers] == [422, 404, 422, 413, 422, 422]
    assert "This is not the question that waits" in other.text
    assert "stands in `question`" in included.text
    assert "more than 1,500,000 characters" in too_long.text


async def test_an_app_that_cannot_send_again_is_told_where_to_ask_m88(
    world: ChatFixture, answered: tuple[httpx.AsyncClient, str]
) -> None:
    _, session_id = answered
    await fill_cache(world)
    async with open_chat(build_deps(world)) as http:
        answer = await http.post(
            "/v2/messages", json={"text": "Where?"}, params={"chat_session_id": session_id}
        )

    assert "not on the server any more" in parse_as_fixed_app([answer.content]).text


@pytest.mark.parametrize("field", ["title", "app_id", "agent_id", "project_id"])
async def test_what_would_be_stored_in_clear_is_refused_m82(world: ChatFixture, field: str) -> None:
    async with open_chat(build_deps(world)) as http:
        body = {"storage_mode": "client_encrypted", field: "x"}
        answer = await http.post("/v2/chat-sessions", json=body)
        session_id = await begin(http)
        renamed = await http.patch(f"/v2/chat-sessions/{session_id}", json={"title": SECRET})
        cleared = await http.delete("/v2/messages", params={"chat_session_id": session_id})

    assert [answer.status_code, renamed.status_code, cleared.status_code] == [422] * 3


async def test_a_crisis_is_answered_and_its_log_holds_no_word_m82(world: ChatFixture) -> None:
    with ScriptedModel() as model:
        async with open_chat(build_deps(world, model)) as http:
            await ask(http, await begin(http), CERTAIN)

    [event] = await list_events(world)
    assert event["level"] == 3
    assert CERTAIN not in repr(event)


async def test_a_crisis_waits_for_no_messages_m88(
    world: ChatFixture, answered: tuple[httpx.AsyncClient, str]
) -> None:
    _, session_id = answered
    await fill_cache(world)
    async with open_chat(build_deps(world)) as http:
        answer = await ask(http, session_id, CERTAIN)
        old = await http.post(
            "/v2/messages", json={"text": CERTAIN}, params={"chat_session_id": session_id}
        )

    assert read_text(answer).startswith(NOT_ALONE)
    assert find_reason(answer) == "cache_miss"
    assert parse_as_fixed_app([old.content]).text.startswith(NOT_ALONE)
    assert {event["level"] for event in await list_events(world)} == {3}


async def test_content_of_an_embed_that_is_no_json_is_refused_m90(
    world: ChatFixture, answered: tuple[httpx.AsyncClient, str]
) -> None:
    http, session_id = answered
    kept = await list_messages(http, session_id)
    await fill_cache(world)
    deep = "[" * 10_000 + "]" * 10_000
    async with open_chat(build_deps(world)) as again:
        run_id = (await ask(again, session_id, "Where?")).headers["x-run-id"]
        for content in ("{", deep, "NaN"):
            embeds = [build_embed(session_id, kept[1]["id"], content=content)]
            answer = await resend(again, run_id, "Where?", kept, embeds=embeds)
            assert answer.status_code == 422


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(1, MAX_CALLS))
async def test_a_resend_that_is_cut_anywhere_is_completed_by_the_next_m88(
    world: ChatFixture, answered: tuple[httpx.AsyncClient, str], at: int, *, after: bool
) -> None:
    http, session_id = answered
    kept = await list_messages(http, session_id)
    await fill_cache(world)
    injector = FaultInjector(at, fails_after_effect=after)
    dying = replace(world, documents=WatchedPort(world.documents, injector))
    with ScriptedModel() as model:
        async with open_chat(build_deps(world, model)) as again:
            run_id = (await ask(again, session_id, "Where?")).headers["x-run-id"]
        async with open_chat(build_deps(dying, OfflineModel())) as first:
            with suppress(Exception):
                await resend(first, run_id, "Where?", kept)
    world.clock.advance(seconds=20)
    async with open_chat(build_deps(world, OfflineModel())) as again:
        await resend(again, run_id, "Where?", kept)
        shown = await list_messages(again, session_id)

    assert injector.call_count >= at
    assert shown[:2] == kept
    assert [message["id"] for message in shown[2:]] == [f"{run_id}-q", run_id]


def test_ids_of_a_chat_are_told_from_those_of_others_m88() -> None:
    assert belongs_to("sealed-a", "sealed-a-1")
    assert not belongs_to("sealed-a", "sealed-ab-1")
    assert not belongs_to("main", "main-1")
