"""Feedback: thumbs in a store of their own, counted once, and shown in counts that know no persons (C73, P23)."""

from collections.abc import Mapping

import httpx
import pytest

from shared.data.store.day_counts import DayCounts
from shared.domain.store.documents import Query
from tests.fakes import ScriptedModel, script_answer
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.test_message_routes import open_chat


async def count_today(world: ChatFixture) -> Mapping[str, int]:
    return await DayCounts(world.documents, "feedback_days").read(world.clock.now().date())


async def begin_and_ask(http: httpx.AsyncClient, **session: str) -> tuple[str, str]:
    chat = (await http.post("/v2/chat-sessions", json=session)).json()["id"]
    answer = await http.post(
        "/v2/messages", json={"text": "Where is Ann?"}, params={"chat_session_id": chat}
    )
    return chat, answer.headers["x-run-id"]


async def rate(http: httpx.AsyncClient, message_id: str, value: int, reason: str = "") -> None:
    params: dict[str, str | int] = {"message_id": message_id, "value": value}
    answer = await http.post("/v1/users/analytics/chat_message", params=params | {"reason": reason})
    assert answer.status_code == 200, answer.text


async def test_a_rating_counts_once_and_moves_when_it_changes_p23(world: ChatFixture) -> None:
    counted = []
    with ScriptedModel(script_answer("In Lisbon.")) as model:
        async with open_chat(world.deps(model)) as http:
            _, answer_id = await begin_and_ask(http)
            for value in (1, 1, -1, 0, 0):
                await rate(http, answer_id, value, "too long")
                counted.append(await count_today(world))

    up, down = "answer positive scripted-agent answer", "answer negative scripted-agent answer"
    assert counted == [{up: 1}, {up: 1}, {down: 1}, {}, {}]


async def test_what_is_stored_has_no_words_c73(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("In Lisbon.")) as model:
        async with open_chat(world.deps(model)) as http:
            _, answer_id = await begin_and_ask(http)
            await rate(http, answer_id, -1, "It is in Oslo")

    [stored] = await world.documents.query(Query(collection=f"users/{ADA}/feedback"))
    assert not any(word in str(stored.fields) for word in ("Oslo", "Lisbon", "Ann"))
    assert (stored.fields["expires_at"] - stored.fields["created_at"]).days == 180


@pytest.mark.parametrize("rating", ["positive", "negative", "skip"])
async def test_a_chat_gets_a_thumb_for_each_of_its_lengths_c73(
    world: ChatFixture, rating: str
) -> None:
    with ScriptedModel(script_answer("In Lisbon.")) as model:
        async with open_chat(world.deps(model)) as http:
            chat, _ = await begin_and_ask(http)
            for _ in range(2):
                answer = await http.post(
                    f"/v2/chat-sessions/{chat}/feedback", json={"rating": rating}
                )
                assert answer.status_code == 200

    assert await count_today(world) == {f"chat {rating}": 1}


@pytest.mark.parametrize("body", [{}, {"rating": "great"}, {"rating": 1}, {"rating": None}])
async def test_an_unknown_thumb_is_refused_c73(world: ChatFixture, body: dict[str, object]) -> None:
    async with open_chat(world.deps()) as http:
        chat = (await http.post("/v2/chat-sessions", json={})).json()["id"]
        answer = await http.post(f"/v2/chat-sessions/{chat}/feedback", json=body)
    async with open_chat(world.deps(), EVE) as http:
        foreign = await http.post(f"/v2/chat-sessions/{chat}/feedback", json={"rating": "positive"})

    assert (answer.status_code, foreign.status_code) == (422, 404)


async def test_of_an_incognito_chat_only_the_count_is_known_c73(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("In Lisbon.")) as model:
        async with open_chat(world.deps(model)) as http:
            chat, answer_id = await begin_and_ask(http, storage_mode="incognito")
            await rate(http, answer_id, 1)
            await rate(http, answer_id, 1)
            await http.post(f"/v2/chat-sessions/{chat}/feedback", json={"rating": "skip"})

    assert sum((await count_today(world)).values()) == 2
    assert await world.documents.query(Query(collection=f"users/{ADA}/feedback")) == []
    stored = await world.documents.query(Query(collection="feedback"))
    assert "incognito" not in str([document.fields for document in stored])
