"""Internal entry points: events in the form that the cloud posts, from our own functions alone."""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from httpx import Response

from functions.process_conversation.processing.processing_routes import (
    PROCESS_ROUTES,
    TRIGGER_ROUTES,
)
from infra.local.envelopes import encode_document_event
from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.data.account.model_usage import list_days
from shared.domain.conversations.conversation import content_hash
from shared.domain.errors import Unavailable
from shared.domain.ids import UserId
from shared.edge.declare.cloudevents import PUBLISHED_TYPE, WRITTEN_TYPE
from shared.edge.declare.routes import Route
from tests.fakes import ScriptedModel
from tests.fixtures.callers import IDENTITY, issue_service_token, open_client
from tests.fixtures.processing import (
    ALICE,
    EXTRACTION,
    TALK,
    ProcessingFixture,
    build_outputs,
    build_processing_fixture,
    build_script,
    build_test_conversation,
    fail_vectors,
    to_client_fields,
)

NAME = f"projects/p/databases/(default)/documents/users/{ALICE}/conversations/{TALK}"
MESSAGE = {"uid": ALICE, "conversation_id": TALK, "content_hash": "x"}


async def post(
    world: ProcessingFixture, function: str, kind: str, body: bytes, *, token: str | None = None
) -> Response:
    functions: dict[str, tuple[Sequence[Route[Any]], Any]] = {
        "on_conversation_written": (TRIGGER_ROUTES, world.trigger),
        "process_conversation": (PROCESS_ROUTES, world.deps),
    }
    rows, deps = functions[function]
    bearer = token or await issue_service_token(function)
    headers = {"authorization": f"Bearer {bearer}", "ce-type": kind}
    async with open_client(function, rows, deps, headers) as client:
        return await client.post("/", content=body)


def build_pubsub_body(message: Mapping[str, Any]) -> bytes:
    data = base64.b64encode(json.dumps(message).encode()).decode()
    return json.dumps({"message": {"data": data, "messageId": "1"}}).encode()


async def test_a_write_event_becomes_a_message_with_ids_and_hash_p28(database):
    world = build_processing_fixture(database, ScriptedModel())
    body = encode_document_event(NAME, None, to_client_fields(build_test_conversation()))

    answer = await post(world, "on_conversation_written", WRITTEN_TYPE, body)

    assert answer.status_code == 204
    assert world.events.published == [
        (
            "conversation.changed",
            {
                "uid": ALICE,
                "conversation_id": TALK,
                "content_hash": content_hash(build_test_conversation()),
            },
        )
    ]


async def test_without_a_model_a_conversation_is_still_processed_and_found_p28(database):
    world = build_processing_fixture(database, OfflineModel())
    await world.write(
        build_test_conversation("I'm allergic to peanuts. I'll call the printer tomorrow.")
    )

    answer = await post(world, "process_conversation", PUBLISHED_TYPE, build_pubsub_body(MESSAGE))

    assert answer.status_code == 204
    conversation = await world.load_conversation()
    assert conversation.status == "completed"
    (item,) = conversation.structured.action_items
    assert item.description == "Call the printer"
    memories = await world.deps.stores.memories.list_newest(ALICE, limit=9)
    assert [m.content for m in memories] == ["User is allergic to peanuts"]
    assert await world.search_ids("printer") == [TALK]


async def test_the_models_of_processing_are_counted_to_their_owner_p25(database):
    world = build_processing_fixture(database, OfflineModel())
    await world.write(build_test_conversation())

    await post(world, "process_conversation", PUBLISHED_TYPE, build_pubsub_body(MESSAGE))

    [day] = await list_days(world.deps.quotas, ALICE, world.clock.now(), days=1)
    assert all(used.calls for used in day.models.values())
    assert "reader" in day.models


async def test_an_outage_of_the_model_is_waited_for_and_the_message_is_done_d6(database):
    world = build_processing_fixture(
        database, ScriptedModel(answers={EXTRACTION: [Unavailable("busy")]})
    )
    await world.write(build_test_conversation())

    answer = await post(world, "process_conversation", PUBLISHED_TYPE, build_pubsub_body(MESSAGE))

    assert answer.status_code == 204
    assert (await world.load_conversation()).waiting_since == world.clock.now()


async def test_an_outage_answers_503_so_that_the_message_comes_again(database):
    model = ScriptedModel(answers=build_script(build_outputs()))
    world = build_processing_fixture(database, model, fail_vectors(1))
    await world.write(build_test_conversation())

    answer = await post(world, "process_conversation", PUBLISHED_TYPE, build_pubsub_body(MESSAGE))

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
    world = build_processing_fixture(database, ScriptedModel())

    answer = await post(world, "process_conversation", PUBLISHED_TYPE, build_pubsub_body(message))

    assert answer.status_code == 422


@pytest.mark.parametrize("function", ["on_conversation_written", "process_conversation"])
@pytest.mark.parametrize("body", [b"", b"{", b"\xff" * 40])
async def test_a_body_that_is_no_event_is_refused(database, function, body):
    world = build_processing_fixture(database, ScriptedModel())
    kind = WRITTEN_TYPE if function == "on_conversation_written" else PUBLISHED_TYPE

    answer = await post(world, function, kind, body)

    assert answer.status_code == 422


@pytest.mark.parametrize("function", ["on_conversation_written", "process_conversation"])
async def test_only_our_own_functions_may_call(database, function):
    world = build_processing_fixture(database, ScriptedModel())
    user_token = IDENTITY.issue(UserId(ALICE))
    other_token = await issue_service_token("tool_proxy")

    answers = [
        await post(world, function, PUBLISHED_TYPE, build_pubsub_body(MESSAGE), token=token)
        for token in (user_token, other_token, "forged")
    ]

    assert [answer.status_code for answer in answers] == [401, 401, 401]
