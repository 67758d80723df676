"""The internal entry points: events as the cloud posts them, and nobody else's."""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from httpx import ASGITransport, AsyncClient, Response

from functions.process_conversation.endpoints import PROCESS, TRIGGER
from infra.local.envelopes import document_event
from shared.adapters.local_identity import LocalIdentity
from shared.adapters.offline_model import OfflineModel
from shared.domain.conversation import content_hash
from shared.domain.errors import Unavailable
from shared.domain.ids import UserId
from shared.edge.cloudevents import PUBLISHED, WRITTEN
from shared.edge.http import Callers, Endpoint, application
from tests.doubles import ScriptedModel
from tests.functions.process_conversation.world import (
    ALICE,
    SECRET,
    STRUCTURE,
    TALK,
    World,
    client_fields,
    talk,
    world_on,
)

NAME = f"projects/p/databases/(default)/documents/users/{ALICE}/conversations/{TALK}"
MESSAGE = {"uid": ALICE, "conversation_id": TALK, "content_hash": "x"}


async def post(
    world: World, function: str, kind: str, body: bytes, *, token: str | None = None
) -> Response:
    served: dict[str, tuple[Sequence[Endpoint], Callers]] = {
        "on_conversation_written": (TRIGGER, world.trigger),
        "process_conversation": (PROCESS, world.deps),
    }
    rows, deps = served[function]
    bearer = token or await world.deps.service_identity.token(function)
    headers = {"authorization": f"Bearer {bearer}", "ce-type": kind}
    transport = ASGITransport(application(function, rows, deps))
    async with AsyncClient(transport=transport, base_url="http://test") as client:
        return await client.post("/", content=body, headers=headers)


def published(message: Mapping[str, Any]) -> bytes:
    data = base64.b64encode(json.dumps(message).encode()).decode()
    return json.dumps({"message": {"data": data, "messageId": "1"}}).encode()


async def test_a_write_event_becomes_a_message_with_ids_and_hash_p28(database):
    world = world_on(database, ScriptedModel())
    body = document_event(NAME, None, client_fields(talk()))

    answer = await post(world, "on_conversation_written", WRITTEN, body)

    assert answer.status_code == 204
    assert world.events.published == [
        (
            "conversation.changed",
            {"uid": ALICE, "conversation_id": TALK, "content_hash": content_hash(talk())},
        )
    ]


async def test_without_a_model_a_conversation_is_still_processed_and_found_p28(database):
    world = world_on(database, OfflineModel())
    await world.write(talk("I'm allergic to peanuts. I'll call the printer tomorrow."))

    answer = await post(world, "process_conversation", PUBLISHED, published(MESSAGE))

    assert answer.status_code == 204
    stored = await world.stored()
    assert stored.status == "completed"
    (item,) = stored.structured.action_items
    assert item.description == "Call the printer tomorrow"
    memories = await world.deps.memories.newest(ALICE, limit=9)
    assert [m.content for m in memories] == ["User is allergic to peanuts"]
    assert await world.found("printer") == [TALK]


async def test_an_outage_answers_503_so_that_the_message_comes_again(database):
    world = world_on(database, ScriptedModel(answers={STRUCTURE: [Unavailable("busy")]}))
    await world.write(talk())

    answer = await post(world, "process_conversation", PUBLISHED, published(MESSAGE))

    assert answer.status_code == 503


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"uid": ALICE, "content_hash": "x"},
        {**MESSAGE, "conversation_id": "../bob"},
        {**MESSAGE, "content_hash": 7},
    ],
)
async def test_a_message_that_names_no_conversation_is_refused(database, message):
    world = world_on(database, ScriptedModel())

    answer = await post(world, "process_conversation", PUBLISHED, published(message))

    assert answer.status_code == 422


@pytest.mark.parametrize("function", ["on_conversation_written", "process_conversation"])
@pytest.mark.parametrize("body", [b"", b"{", b"\xff" * 40])
async def test_a_body_that_is_no_event_is_refused(database, function, body):
    world = world_on(database, ScriptedModel())
    kind = WRITTEN if function == "on_conversation_written" else PUBLISHED

    answer = await post(world, function, kind, body)

    assert answer.status_code == 422


@pytest.mark.parametrize("function", ["on_conversation_written", "process_conversation"])
async def test_only_our_own_functions_may_call(database, function):
    world = world_on(database, ScriptedModel())
    users = LocalIdentity(SECRET).issue(UserId(ALICE))
    for_another = await world.deps.service_identity.token("tool_proxy")

    answers = [
        await post(world, function, PUBLISHED, published(MESSAGE), token=token)
        for token in (users, for_another, "forged")
    ]

    assert [answer.status_code for answer in answers] == [401, 401, 401]
