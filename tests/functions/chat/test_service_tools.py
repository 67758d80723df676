"""P6, P7: what one turn offers of the services that its owner connected, and what becomes of a call."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from functions.chat.accepting import prepare
from functions.chat.tools.apps import FEW, FOUND, SEARCHES
from functions.chat.tools.services import service_tools
from shared.adapters.local_keys import LocalKeys
from shared.data.grants import Grants
from shared.domain.connection import Connection, Health, Service, Tokens
from shared.domain.ids import UserId
from shared.integrations import INTEGRATIONS, integration
from tests.doubles import ReadRounds, ScriptedModel, calls, says
from tests.functions.chat.conftest import ADA, EVE, World
from tests.functions.chat.test_turn import ask

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
CALENDAR = {"get_calendar_events", "create_calendar_event", "update_calendar_event",
            "delete_calendar_event"}  # fmt: skip
OURS_BEFORE = "update_action_item"
MOST_TOOLS_OF_A_MODEL = 128


def connection(service: Service, health: Health = "connected") -> Connection:
    return Connection(id=service, account="", scopes=(), connected_at=NOON, health=health)


async def connect(world: World, *services: Service, uid: UserId = ADA) -> None:
    grants = Grants(world.documents, LocalKeys(b"k" * 32))
    for service in services:
        await grants.put(uid, connection(service), Tokens(access_token="ya29.secret"))


async def offered(world: World, uid: UserId = ADA) -> list[str]:
    turn = await prepare(world.deps(), uid, "Hello", None)
    return [tool.spec.name for tool in turn.tools]


async def test_p6_the_tools_of_a_connected_service_are_offered_to_its_owner_alone(world: World):
    before = await offered(world)
    await connect(world, "google_calendar")

    assert set(await offered(world)) - set(before) == CALENDAR
    assert await offered(world, EVE) == before


async def test_p7_of_what_is_not_connected_no_tool_is_offered(world: World):
    names = {tool.name for name in INTEGRATIONS for tool in integration(name).tools}

    assert not names & set(await offered(world))


async def test_the_order_of_tools_is_that_of_the_services_whenever_they_were_connected(
    world: World,
):
    await connect(world, "x", "gmail", "google_calendar")

    found = await offered(world)

    mine = found[found.index(OURS_BEFORE) + 1 :]
    expected = [
        tool.name
        for service in ("google_calendar", "gmail", "x")
        for tool in integration(service).tools
    ]
    assert mine == expected


async def test_what_connections_cost_is_one_read_beside_the_others(world: World):
    counting = ReadRounds(world.documents)

    await prepare(replace(world, documents=counting).deps(), ADA, "Hello", None)

    assert counting.rounds <= 2


@pytest.mark.parametrize("health", ["connected", "expired"])
async def test_p7_a_call_leaves_for_the_proxy_with_the_owners_id_and_without_a_token(
    world: World, health: Health
):
    """Also when it expired: then the proxy says how to mend it."""
    await connect(world, "gmail")
    if health == "expired":
        grants = Grants(world.documents, LocalKeys(b"k" * 32))
        grant = await grants.get(ADA, "gmail")
        assert grant is not None
        await grants.expire(ADA, "gmail", grant)
    asked = {"query": "from:ann"}

    with ScriptedModel(calls(("get_gmail_messages", asked)), says("No mails.")) as model:
        await ask(world.deps(model))

    assert world.toolbox.called == [("ada", "gmail", "get_gmail_messages", asked)]
    assert "ya29" not in repr(model.calls)


async def test_the_web_is_searched_only_where_that_is_set_up(world: World):
    deps = world.deps()

    without = [tool.spec.name for tool in service_tools(deps, ADA, [])]
    searching = replace(deps, web_search=True)
    found = [tool.spec.name for tool in service_tools(searching, ADA, [])]

    assert (without, found) == ([], ["perplexity_web_search"])


def everything() -> list[Connection]:
    return [connection(name) for name in INTEGRATIONS]


async def test_every_tool_says_whose_words_it_returns_and_whether_it_acts(world: World):
    tools = list(service_tools(world.deps(), ADA, everything()))

    assert {tool.source.kind for tool in tools} == {"service"}
    assert {tool.source.id for tool in tools} == set(INTEGRATIONS)
    acting = {tool.spec.name for tool in tools if tool.side_effect}
    assert acting == CALENDAR - {"get_calendar_events"}


async def test_all_services_together_leave_room_for_the_apps(world: World):
    ours = await offered(world)
    tools = list(service_tools(world.deps(), ADA, everything()))

    assert len(ours) + len(tools) + FEW + FOUND * SEARCHES <= MOST_TOOLS_OF_A_MODEL


def test_p6_p7_every_schema_is_what_a_model_api_takes():
    for name in INTEGRATIONS:
        for tool in integration(name).tools:
            schema = tool.asked.model_json_schema()
            assert schema["type"] == "object"
            assert schema["additionalProperties"] is False
            assert len(tool.name) <= 64
            assert "description" in schema
