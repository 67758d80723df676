"""Voice sessions: a secret and no key, tools that change nothing, and turns that are kept once (C76–C78)."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from functions.chat.deps import ChatDeps
from functions.chat.tools.spoken_memory_tools import NOT_SAID
from functions.chat.voice.voice_sessions import FORBIDDEN_TOOL
from shared.adapters.cloud.openai_realtime import OpenaiRealtime
from shared.adapters.missing_realtime import NOT_SET_UP
from shared.data.store.day_counts import DayCounts
from shared.domain.account.quota import EMBEDDED_LIMITS
from shared.domain.chats.storage_mode import is_incognito
from shared.domain.ids import MessageId
from shared.safety.crisis_plan import NOT_ALONE
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.library import build_conversation, store_conversations
from tests.functions.chat.test_message_routes import open_chat
from tests.servers import run_server
from tests.servers.realtime import ANSWER, EXPIRES_AT, OFFER, SECRET, FakeRealtime

KEY = "sk-our-own-key"
TURN = {"item_id": "item_1", "user_text": "Where are my keys?", "assistant_text": "In the hall."}
SESSIONS = "/v2/voice-sessions"


@pytest.fixture
def server() -> FakeRealtime:
    return FakeRealtime()


@pytest.fixture
def deps(world: ChatFixture, server: FakeRealtime) -> Iterator[ChatDeps]:
    with run_server(server.app) as url:
        realtime = OpenaiRealtime(api_key=KEY, base_url=f"{url}/v1", model="m", hash_user=str)
        yield replace(world.deps(), build_realtime=lambda: realtime)


async def post(
    deps: ChatDeps, path: str, body: dict[str, Any] | None = None, *, uid: str = ADA
) -> httpx.Response:
    async with open_chat(deps, uid) as http:
        return await http.post(f"{SESSIONS}{path}", json=body or {})


async def begin(deps: ChatDeps, **body: str) -> str:
    answer = await post(deps, "", body)
    assert answer.status_code == 201, answer.text
    session_id: str = answer.json()["id"]
    return session_id


async def get_status(deps: ChatDeps, session_id: str, *, uid: str = ADA) -> httpx.Response:
    async with open_chat(deps, uid) as http:
        return await http.get(f"{SESSIONS}/{session_id}")


async def list_texts(deps: ChatDeps) -> list[str]:
    async with open_chat(deps) as http:
        messages = (await http.get("/v2/messages")).json()
    return [message["text"] for message in messages]


async def test_a_session_is_a_secret_and_no_key_c76(deps: ChatDeps, server: FakeRealtime) -> None:
    answer = await post(deps, "")

    body = answer.json()
    assert answer.status_code == 201
    assert body["client_secret"] == {"value": SECRET, "expires_at": EXPIRES_AT}
    assert (body["chat_session_id"], body["status"]) == ("main", "active")
    assert KEY not in answer.text
    ((sent, _),) = server.requests
    tools = {tool["name"] for tool in sent["session"]["tools"]}
    assert "search_conversations" in tools
    assert "find_crisis_contacts" in tools
    assert not tools & {"create_action_item", "delete_memories"}
    assert "2026-03-02" in sent["session"]["instructions"]


async def test_a_call_that_a_browser_offers_is_opened_without_a_secret_c76(
    deps: ChatDeps, server: FakeRealtime
) -> None:
    answer = await post(deps, "", {"sdp_offer": OFFER})

    body = answer.json()
    assert answer.status_code == 201
    assert (body["sdp_answer"], body["client_secret"]) == (ANSWER, None)
    assert KEY not in answer.text
    ((sent, _),) = server.requests
    assert sent["sdp"] == OFFER
    assert "search_conversations" in {tool["name"] for tool in sent["session"]["tools"]}


async def test_an_offer_that_is_too_long_is_refused_c76(deps: ChatDeps) -> None:
    answer = await post(deps, "", {"sdp_offer": "v" * 32_769})

    assert answer.status_code == 422


@pytest.mark.parametrize("body", [{}, {"sdp_offer": OFFER}])
async def test_a_call_without_a_key_says_so_c76(world: ChatFixture, body: dict[str, str]) -> None:
    answer = await post(world.deps(), "", body)

    assert (answer.status_code, answer.json()["detail"]) == (409, NOT_SET_UP)


async def test_the_secret_is_stored_nowhere_c76(deps: ChatDeps, world: ChatFixture) -> None:
    session_id = await begin(deps)

    document = await world.documents.get(f"users/{ADA}/voice_sessions/{session_id}")
    assert document is not None
    assert SECRET not in str(document.fields)


@pytest.mark.parametrize(("status", "seen"), [(401, 502), (503, 503)])
async def test_a_session_that_is_refused_says_so_and_costs_no_question_c76(
    world: ChatFixture, deps: ChatDeps, server: FakeRealtime, status: int, seen: int
) -> None:
    limited = world.deps(quotas={**EMBEDDED_LIMITS, "turns": 1})
    deps = replace(deps, quotas=limited.quotas)
    server.answers += [(status, {"error": {"message": "secret text"}})] * (1 + (status == 503))

    refused = await post(deps, "")
    begun = await post(deps, "")
    beyond = await post(deps, "")

    assert (refused.status_code, begun.status_code, beyond.status_code) == (seen, 201, 429)
    assert "secret text" not in refused.text


async def test_a_tool_of_the_session_reads_the_owners_library_as_data_c77(
    deps: ChatDeps, world: ChatFixture
) -> None:
    await store_conversations(world, ADA, build_conversation(1, "Ann likes Lisbon."))
    call = {"name": "search_conversations", "arguments": '{"query": "Lisbon"}'}

    answer = await post(deps, f"/{await begin(deps)}/tools", call)

    output = answer.json()["output"]
    assert output.startswith('<data from="')
    assert "Lisbon" in output


@pytest.mark.parametrize("name", ["create_action_item", "update_memory", "no_such_tool"])
async def test_a_tool_that_changes_something_or_is_unknown_is_refused_c77(
    deps: ChatDeps, name: str
) -> None:
    call = {"name": name, "arguments": '{"text": "x", "user_quote": "remember x"}'}

    answer = await post(deps, f"/{await begin(deps)}/tools", call)

    assert (answer.status_code, answer.json()["detail"]) == (403, FORBIDDEN_TOOL)


REMEMBER = {"fact": "Ann likes tea", "user_quote": "Remember that Ann likes tea"}


async def remember(deps: ChatDeps, session_id: str, **fields: str) -> str:
    call = {"name": "remember", "arguments": json.dumps(REMEMBER), **fields}
    output: str = (await post(deps, f"/{session_id}/tools", call)).json()["output"]
    return output


async def list_memories(deps: ChatDeps) -> list[str]:
    return [memory.content for memory in await deps.stores.memories.list_newest(ADA, limit=9)]


@pytest.mark.parametrize("is_kept", [True, False])
async def test_a_fact_is_remembered_that_the_owner_asked_for_in_these_words_c77(
    deps: ChatDeps, *, is_kept: bool
) -> None:
    session_id = await begin(deps)
    said = "Oh, and remember that ann likes tea, please."
    if is_kept:
        await post(deps, f"/{session_id}/turns", {**TURN, "user_text": said})
        output = await remember(deps, session_id)
    else:
        output = await remember(deps, session_id, user_text=said)

    assert "Remembered" in output
    assert await list_memories(deps) == ["Ann likes tea"]


@pytest.mark.parametrize("said", ["", "Ann likes tea", "What did Ann say?"])
async def test_a_fact_that_nobody_asked_for_is_not_remembered_c77(
    deps: ChatDeps, said: str
) -> None:
    session_id = await begin(deps)
    written = {**TURN, "assistant_text": "Remember that Ann likes tea"}
    await post(deps, f"/{session_id}/turns", written)

    output = await remember(deps, session_id, user_text=said)

    assert NOT_SAID in output
    assert await list_memories(deps) == []


async def test_words_that_do_not_say_it_prove_no_fact_m122(deps: ChatDeps) -> None:
    session_id = await begin(deps)
    call = {"fact": "the door opens for Eve", "user_quote": "at d"}
    torn = {"name": "remember", "arguments": json.dumps(call)}
    whole = {"name": "remember", "arguments": json.dumps({**call, "user_quote": "what did"})}

    outputs = [
        (await post(deps, f"/{session_id}/tools", {**each, "user_text": "what did I say"})).json()
        for each in (torn, whole)
    ]

    assert NOT_SAID in outputs[0]["output"]
    assert "Ask them whether to remember it" in outputs[1]["output"]
    assert await list_memories(deps) == []


@pytest.mark.parametrize(("reply", "is_kept"), [("Yes please", True), ("No", False)])
async def test_what_words_do_not_prove_waits_for_a_spoken_yes_m122(
    deps: ChatDeps, reply: str, *, is_kept: bool
) -> None:
    session_id = await begin(deps)
    asked = "Shall I remember that the door opens for Eve?"
    await post(deps, f"/{session_id}/turns", {**TURN, "assistant_text": asked})
    call = {"fact": "The door opens for Eve", "user_quote": reply}

    await remember(deps, session_id, user_text=reply, arguments=json.dumps(call))

    stored = await deps.stores.memories.list_newest(ADA, limit=9)
    assert [(m.content, m.category, m.read_kinds) for m in stored] == (
        [("The door opens for Eve", "system", ("recording",))] if is_kept else []
    )


async def test_the_model_that_speaks_gets_numbers_from_the_table_c77(deps: ChatDeps) -> None:
    session_id = await begin(deps)
    call = {"name": "find_crisis_contacts", "arguments": '{"country": "FR"}'}

    placed = await post(deps, f"/{session_id}/tools", call)
    unplaced = await post(deps, f"/{session_id}/tools", {**call, "arguments": "{}"})

    assert "3114" in placed.json()["output"]
    assert "Ask which country" in unplaced.json()["output"]


async def test_a_crisis_that_the_model_met_alone_is_logged_once_c78(
    deps: ChatDeps, world: ChatFixture
) -> None:
    path = f"/{await begin(deps)}/turns"
    turn = {**TURN, "user_text": "I'm going to kill myself"}

    answers = [(await post(deps, path, turn)).json() for _ in range(3)]
    ordinary = (await post(deps, path, {**TURN, "item_id": "item_2"})).json()

    assert [answer["recorded"] for answer in answers] == [True, False, False]
    assert all(NOT_ALONE in answer["crisis_plan"] for answer in answers)
    assert ordinary["crisis_plan"] is None
    day = await DayCounts(world.documents, "crisis_days").read(world.clock.now().date())
    assert day == {"missed_by_voice-3-rules": 1}


@pytest.mark.parametrize("arguments", ['{"query": {"nested": [1]}}', '{"query"', "[" * 4_000, ""])
async def test_wrong_arguments_are_told_to_the_model_c77(deps: ChatDeps, arguments: str) -> None:
    call = {"name": "search_conversations", "arguments": arguments}

    answer = await post(deps, f"/{await begin(deps)}/tools", call)

    assert answer.status_code == 200
    assert "search_conversations" in answer.json()["output"]


async def test_a_finished_turn_is_kept_once_however_often_it_comes_c78(deps: ChatDeps) -> None:
    session_id = await begin(deps)
    path = f"/{session_id}/turns"

    answers = await asyncio.gather(*(post(deps, path, TURN) for _ in range(4)))

    assert {answer.status_code for answer in answers} == {200}
    assert sorted(answer.json()["recorded"] for answer in answers) == [False] * 3 + [True]
    assert len({answer.json()["answer_id"] for answer in answers}) == 1
    assert await list_texts(deps) == ["In the hall.", "Where are my keys?"]
    assert (await get_status(deps, session_id)).json()["turn_count"] == 1


async def test_a_spoken_turn_belongs_to_a_stretch_of_its_chat_c65(
    deps: ChatDeps, world: ChatFixture
) -> None:
    session_id = await begin(deps)
    answers = [(await post(deps, f"/{session_id}/turns", TURN)).json() for _ in range(2)]

    (task,) = world.tasks.list_by_target("end_stretch")
    answer = await deps.stores.messages.get(ADA, MessageId(answers[0]["answer_id"]))
    assert task.body["until"] == answer.created_at.isoformat()


async def test_a_turn_with_other_words_than_before_is_refused_c78(deps: ChatDeps) -> None:
    path = f"/{await begin(deps)}/turns"
    await post(deps, path, TURN)

    forged = await post(deps, path, {**TURN, "assistant_text": "Nowhere."})

    assert forged.status_code == 409
    assert await list_texts(deps) == ["In the hall.", "Where are my keys?"]


async def test_a_turn_of_a_session_that_nobody_began_is_refused_c78(deps: ChatDeps) -> None:
    session_id = await begin(deps)

    answers = [
        await post(deps, "/forged/turns", TURN),
        await post(deps, f"/{session_id}/turns", TURN, uid=EVE),
        await post(deps, f"/{session_id}/end", uid=EVE),
        await get_status(deps, session_id, uid=EVE),
    ]

    assert [answer.status_code for answer in answers] == [404] * 4


@pytest.mark.parametrize("field", ["user_text", "assistant_text"])
async def test_a_turn_without_words_is_refused_c78(deps: ChatDeps, field: str) -> None:
    answer = await post(deps, f"/{await begin(deps)}/turns", {**TURN, field: " \u200b"})

    assert answer.status_code == 422


async def test_a_session_ends_once_and_takes_nothing_afterwards_c78(
    deps: ChatDeps, world: ChatFixture
) -> None:
    session_id = await begin(deps)
    before = await get_status(deps, session_id)
    await post(deps, f"/{session_id}/turns", TURN)
    ends = [await post(deps, f"/{session_id}/end")]
    world.clock.advance(minutes=5)
    ends.append(await post(deps, f"/{session_id}/end"))
    late = await post(deps, f"/{session_id}/turns", {**TURN, "item_id": "item_2"})
    repeat = await post(deps, f"/{session_id}/turns", TURN)
    tool = await post(deps, f"/{session_id}/tools", {"name": "search_memories", "arguments": "{}"})

    assert before.json()["status"] == "active"
    assert [end.json()["status"] for end in ends] == ["completed"] * 2
    assert (late.status_code, tool.status_code) == (409, 409)
    assert repeat.json()["recorded"] is False
    document = await world.documents.get(f"users/{ADA}/voice_sessions/{session_id}")
    assert document is not None
    assert str(document.fields["ended_at"]).startswith("2026-03-02 12:00")


async def test_a_session_that_nobody_ended_is_over_after_two_hours_c78(
    deps: ChatDeps, world: ChatFixture
) -> None:
    session_id = await begin(deps)
    world.clock.advance(hours=2)

    late = await post(deps, f"/{session_id}/turns", TURN)

    assert late.status_code == 409
    assert (await get_status(deps, session_id)).json()["status"] == "completed"


async def test_what_was_said_goes_to_the_chat_that_is_named_c78(deps: ChatDeps) -> None:
    async with open_chat(deps) as http:
        chat_id = (await http.post("/v2/chat-sessions", json={})).json()["id"]
    session_id = await begin(deps, chat_session_id=chat_id)
    await post(deps, f"/{session_id}/turns", TURN)

    unknown = await post(deps, "", {"chat_session_id": "none"})

    assert unknown.status_code == 404
    assert await list_texts(deps) != ["In the hall.", "Where are my keys?"]
    async with open_chat(deps) as http:
        query = {"chat_session_id": chat_id}
        kept = (await http.get("/v2/messages", params=query)).json()
    assert [message["text"] for message in kept] == ["In the hall.", "Where are my keys?"]


async def test_an_incognito_chat_has_no_tool_that_writes_c76(
    deps: ChatDeps, server: FakeRealtime
) -> None:
    async with open_chat(deps) as http:
        chat = (await http.post("/v2/chat-sessions", json={"storage_mode": "incognito"})).json()
    session_id = await begin(deps, chat_session_id=chat["id"])

    call = {"name": "remember", "arguments": json.dumps(REMEMBER), "user_text": "Remember tea"}
    refused = await post(deps, f"/{session_id}/tools", call)
    kept = await post(deps, f"/{session_id}/turns", TURN)

    ((sent, _),) = server.requests
    assert "remember" not in {tool["name"] for tool in sent["session"]["tools"]}
    assert refused.status_code == 403
    assert is_incognito(kept.json()["answer_id"])
