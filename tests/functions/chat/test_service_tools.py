"""Service tools: which ones a turn offers, and how a call reaches the tool proxy (P6, P7)."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from functions.chat.tools.service_tools import build_service_tools
from functions.chat.tools.tool_offer import MAX_ALWAYS_OFFERED, MAX_PER_SEARCH, MAX_SEARCHES
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from shared.adapters.embedded.local_keys import LocalKeys
from shared.data.apps.token_store import AccountTokenStore
from shared.domain.apps.connection import Connection, Health, Service, Tokens
from shared.domain.chats.consent import Consent
from shared.domain.ids import UserId
from shared.integrations import INTEGRATIONS, load_integration
from tests.fakes import CountingDocuments, ScriptedModel, script_answer, script_calls
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.test_turn import ask

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
CALENDAR = {"get_calendar_events", "create_calendar_event", "update_calendar_event",
            "delete_calendar_event"}  # fmt: skip
MAX_TOOLS_OF_A_MODEL = 128


def build_connection(service: Service) -> Connection:
    return Connection(id=service, account="", scopes=(), connected_at=NOON, health="connected")


async def connect_services(world: ChatFixture, *services: Service, uid: UserId = ADA) -> None:
    token_store = AccountTokenStore(world.documents, LocalKeys(b"k" * 32))
    for service in services:
        await token_store.connect(
            uid, build_connection(service), Tokens(access_token="ya29.secret")
        )


async def list_offered_names(world: ChatFixture, uid: UserId = ADA) -> list[str]:
    turn = await prepare_turn(world.deps(), uid, Question("Hello"))
    return [tool.spec.name for tool in turn.tools]


async def test_the_tools_of_a_connected_service_are_offered_to_its_owner_alone_p6(
    world: ChatFixture,
):
    names_before = await list_offered_names(world)
    await connect_services(world, "google_calendar")

    assert set(await list_offered_names(world)) - set(names_before) == CALENDAR
    assert await list_offered_names(world, EVE) == names_before


async def test_tools_of_services_that_are_not_connected_are_not_offered_p7(world: ChatFixture):
    names = {tool.name for name in INTEGRATIONS for tool in load_integration(name).tools}

    assert not names & set(await list_offered_names(world))


async def test_tools_are_ordered_by_service_and_not_by_the_time_of_connection(
    world: ChatFixture,
):
    own_names = await list_offered_names(world)
    await connect_services(world, "x", "gmail", "google_calendar")

    names = await list_offered_names(world)

    service_names = names[len(own_names) :]
    expected = [
        tool.name
        for service in ("google_calendar", "gmail", "x")
        for tool in load_integration(service).tools
    ]
    assert service_names == expected


async def test_connections_are_read_in_the_same_round_as_the_other_documents(world: ChatFixture):
    counting = CountingDocuments(world.documents)

    await prepare_turn(replace(world, documents=counting).deps(), ADA, Question("Hello"))

    assert counting.rounds <= 2


@pytest.mark.parametrize("health", ["connected", "expired"])
async def test_a_call_reaches_the_proxy_with_the_user_id_and_without_a_token_p7(
    world: ChatFixture, health: Health
):
    """Also when the connection expired: then the proxy says how to renew it."""
    await connect_services(world, "gmail")
    if health == "expired":
        token_store = AccountTokenStore(world.documents, LocalKeys(b"k" * 32))
        stored_tokens = await token_store.get(ADA, "gmail")
        assert stored_tokens is not None
        await token_store.expire(ADA, "gmail", stored_tokens)
    arguments = {"query": "from:ann"}

    with ScriptedModel(
        script_calls(("get_gmail_messages", arguments)), script_answer("No mails.")
    ) as model:
        await ask(world.deps(model), "Search my mail for from:ann")

    assert world.toolbox.calls == [("ada", "gmail", "get_gmail_messages", arguments)]
    assert re.fullmatch("[A-Za-z0-9_-]{1,64}", world.toolbox.call_ids[0])
    assert "ya29" not in repr(model.calls)


async def test_the_web_search_tool_is_offered_only_where_it_is_configured(world: ChatFixture):
    deps = world.deps()

    default_names = [tool.spec.name for tool in build_service_tools(deps, ADA, [], Consent())]
    searching = replace(deps, web_search=True)
    searching_names = [
        tool.spec.name for tool in build_service_tools(searching, ADA, [], Consent())
    ]

    assert (default_names, searching_names) == ([], ["perplexity_web_search", "read_web_page"])


def build_all_connections() -> list[Connection]:
    return [build_connection(name) for name in INTEGRATIONS]


async def test_every_service_tool_declares_its_source_and_its_class(world: ChatFixture):
    tools = list(build_service_tools(world.deps(), ADA, build_all_connections(), Consent()))

    assert {tool.source.kind for tool in tools} == {"service"}
    assert {tool.source.id for tool in tools} == set(INTEGRATIONS)
    classes = {tool.spec.name: tool.tool_class for tool in tools if tool.tool_class != "read"}
    assert classes == {
        "create_calendar_event": "write",
        "update_calendar_event": "write",
        "delete_calendar_event": "sensitive",
    }


@pytest.mark.parametrize(
    ("tool", "arguments", "is_sensitive"),
    [
        ("create_calendar_event", {"attendees": []}, False),
        ("create_calendar_event", {"attendees": ["eve@example.com"]}, True),
        ("update_calendar_event", {"new_title": "Gym", "set_attendees": None}, False),
        ("update_calendar_event", {"set_attendees": ["eve@example.com"]}, True),
        ("update_calendar_event", {"set_attendees": []}, True),
        ("update_calendar_event", {"add_attendees": [], "remove_attendees": []}, False),
    ],
)
async def test_a_change_of_who_attends_asks_each_time_s1(
    world: ChatFixture, tool: str, arguments: dict[str, object], *, is_sensitive: bool
):
    tools = build_service_tools(world.deps(), ADA, build_all_connections(), Consent())
    [calendar_tool] = [candidate for candidate in tools if candidate.name == tool]

    assert calendar_tool.is_sensitive(arguments) is is_sensitive


async def test_the_tools_of_all_services_and_apps_stay_within_the_models_limit(world: ChatFixture):
    builtin_names = await list_offered_names(world)
    tools = list(build_service_tools(world.deps(), ADA, build_all_connections(), Consent()))

    assert (
        len(builtin_names) + len(tools) + MAX_ALWAYS_OFFERED + MAX_PER_SEARCH * MAX_SEARCHES
        <= MAX_TOOLS_OF_A_MODEL
    )


def test_every_service_tool_has_a_schema_that_a_model_api_accepts_p6_p7():
    for name in INTEGRATIONS:
        for tool in load_integration(name).tools:
            schema = tool.arguments_type.model_json_schema()
            assert schema["type"] == "object"
            assert schema["additionalProperties"] is False
            assert len(tool.name) <= 64
            assert "description" in schema
