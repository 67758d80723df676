"""Answers to webhooks: a message becomes a chat message of the app, and a push, once (R4)."""

import json
from dataclasses import replace

import pytest

from functions.tool_proxy.webhooks.answers import OVER_THE_LIMIT, parse_message
from functions.tool_proxy.webhooks.delivery import attempt_delivery
from shared.domain.chats.chat import Message
from shared.domain.errors import Unavailable
from shared.domain.ids import SessionId
from shared.domain.store.documents import Query
from shared.library.notify import MAX_PER_HOUR, MAX_TEXT_CHARS
from tests.fakes import replace_stores
from tests.fault_injection import FaultyPort, lose_response, raise_unavailable
from tests.fixtures.tool_proxy import ALICE
from tests.fixtures.webhooks import DIARY, TALK, WebhookFixture


async def list_chat(fixture: WebhookFixture, session_id: str = DIARY) -> list[Message]:
    return await fixture.world.deps.stores.messages.list_newest(
        ALICE, SessionId(session_id), limit=20
    )


def count_pushes(fixture: WebhookFixture) -> int:
    return sum(task.target == "deliver_notification" for task in fixture.world.tasks.created)


async def test_a_message_becomes_a_chat_message_of_the_app_and_a_push_r4(fixture):
    await attempt_delivery(fixture.world.deps, fixture.delivery)

    [message] = await list_chat(fixture)
    assert (message.text, message.sender, message.app_id) == ("Noted, thank you.", "ai", DIARY)
    assert message.from_integration
    assert message.memories_id == (TALK,)
    assert [card.title for card in message.cards] == ["Launch"]
    [notice] = (await fixture.world.deps.stores.inbox.list_delivered(ALICE, limit=9)).items
    assert (notice.id, notice.body, notice.app_id) == (message.id, message.text, DIARY)
    assert {**notice.data, "created_at": ""} == {
        "id": message.id, "created_at": "", "sender": "ai", "from_integration": "true",
        "type": "text", "notification_type": "plugin", "plugin_id": DIARY,
        "text": "Noted, thank you.", "navigate_to": f"/chat/{DIARY}",
    }  # fmt: skip
    assert count_pushes(fixture) == 1


async def test_an_app_that_writes_into_the_main_chat_answers_there_r4(fixture):
    await fixture.integrate(chat_messages_enabled=True, chat_messages_target="main")

    await attempt_delivery(fixture.world.deps, fixture.delivery)

    [message] = await list_chat(fixture, "main")
    assert (message.text, message.app_id) == ("[Diary]: Noted, thank you.", None)
    assert (await list_chat(fixture), count_pushes(fixture)) == ([], 0)


@pytest.mark.parametrize(
    "answer",
    [b"{}", b"", b'{"message": ""}', b'{"message": " \xe2\x80\x8b "}', b'{"message": 7}',
     b'{"message": null}', b'["message"]', b"<p>thanks</p>", b'{"message": "cut', b"\xff",
     b"[" * 60_000, json.dumps({"message": "a" * 70_000}).encode()],
)  # fmt: skip
async def test_what_is_no_message_says_nothing_and_counts_as_delivered_r4(fixture, answer):
    fixture.hook.answer = answer

    await attempt_delivery(fixture.world.deps, fixture.delivery)

    assert (await list_chat(fixture), count_pushes(fixture)) == ([], 0)
    assert await fixture.read_log() == [(False, None)]


async def test_the_answer_of_a_refusal_is_not_shown_r4(fixture):
    fixture.hook.statuses = [500]

    await attempt_delivery(fixture.world.deps, fixture.delivery)

    assert await list_chat(fixture) == []


def test_a_message_is_visible_text_without_secrets_of_limited_length_r4():
    answer = {"message": f"Hi\u200b. token: ghp_{'a1B2' * 9} " + "x" * 10_000}

    text = parse_message(json.dumps(answer).encode())

    assert text.startswith("Hi.")
    assert "ghp_" not in text
    assert len(text) == MAX_TEXT_CHARS


async def test_messages_count_towards_the_notification_limit_r4(fixture):
    deliveries = [
        replace(fixture.delivery, subject_id=await fixture.keep_another())
        for _ in range(MAX_PER_HOUR + 1)
    ]

    for delivery in deliveries:
        await attempt_delivery(fixture.world.deps, delivery)

    assert len(await list_chat(fixture)) == count_pushes(fixture) == MAX_PER_HOUR
    assert (await fixture.read_log())[-1] == (False, OVER_THE_LIMIT)


@pytest.mark.parametrize("fault", [raise_unavailable, lose_response])
async def test_an_interrupted_answer_is_shown_once_r4(fixture, fault):
    """The app answers in other words when it is called again, an hour later."""
    deps = fixture.world.deps
    faulty_messages = FaultyPort(deps.stores.messages, add=[fault])
    with pytest.raises(Unavailable):
        await attempt_delivery(
            replace(deps, stores=replace_stores(deps.stores, messages=faulty_messages)),
            fixture.delivery,
        )
    fixture.world.clock.advance(hours=1)
    fixture.hook.answer = b'{"message": "Once more."}'

    await attempt_delivery(deps, fixture.delivery)
    await attempt_delivery(deps, fixture.delivery)

    [message] = await list_chat(fixture)
    [notice] = (await deps.stores.inbox.list_delivered(ALICE, limit=9)).items
    assert message.text == notice.body
    [limit] = await fixture.world.documents.query(Query(collection=f"users/{ALICE}/limits"))
    assert len(limit.fields["consumers"]) == count_pushes(fixture) == 1
