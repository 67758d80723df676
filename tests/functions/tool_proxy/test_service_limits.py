"""P7, T9: how often a user's chat calls connected services: as often as apps, and counted with them."""

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from functions.tool_proxy.accounts.services import call_service
from functions.tool_proxy.calls.quota import PER_APP, PER_USER
from shared.data.app_calls import AppCalls
from shared.domain.documents import Set
from shared.domain.errors import ToolFailed
from shared.domain.hours import hour_of
from shared.domain.ids import UserId
from tests.faults import Fault, Faulty, error, lost, timeout
from tests.functions.tool_proxy.accounts import ADA, World, world_in
from tests.servers.provider import FakeProvider

BOB = UserId("bob")
TOOL = "get_github_issues"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    answers = {"GET /search/issues": [(200, {"total_count": 0, "items": []})]}
    async with world_in(tmp_path, FakeProvider(answers=answers)) as world:
        await world.connect("github")
        yield world


async def made(world: World, counts: dict[str, int]) -> None:
    hour = hour_of(world.clock.now())
    fields = {"apps": counts, "expires_at": hour + timedelta(hours=1)}
    await world.documents.write(Set(f"users/{ADA}/limits/calls-{hour:%Y-%m-%d-%H}", fields))


async def counted(world: World) -> dict[str, int]:
    return dict(await world.services.app_calls.made(ADA, hour_of(world.clock.now())))


async def test_p7_t9_a_user_calls_a_service_so_often_an_hour_and_hears_when_again(world: World):
    await world.connect("github", uid=BOB)
    await made(world, {"github": PER_APP - 1})

    last = await world.call("github", TOOL)
    with pytest.raises(ToolFailed, match=f"limit of {PER_APP} calls an hour to GitHub is reached"):
        await world.call("github", TOOL)
    others = await world.toolbox.call_service(BOB, "github", TOOL, {})

    assert last == others
    assert len(world.asked) == 2


async def test_p7_t9_services_count_with_apps_and_apps_with_services(world: World):
    await made(world, {f"app{n}": PER_USER // 6 for n in range(6)})

    with pytest.raises(ToolFailed, match="all apps and services together"):
        await world.call("github", TOOL)

    assert world.asked == []


async def test_p7_t9_every_call_counts_also_one_that_fails(world: World):
    await world.call("github", TOOL)
    world.provider.answers["GET /search/issues"] = [(500, {})]
    with pytest.raises(ToolFailed):
        await world.call("github", TOOL)
    with pytest.raises(ToolFailed, match="is not connected"):
        await world.call("gmail", "get_gmail_messages")

    assert await counted(world) == {"github": 2, "gmail": 1}


async def test_t9_a_limit_costs_a_call_one_read_and_one_write(world: World):
    documents = Faulty(world.documents)
    services = replace(world.services, app_calls=AppCalls(documents))

    for _ in range(2):
        await call_service(services, ADA, "github", TOOL, {})

    assert documents.calls == Counter(get=2, write=2)


@pytest.mark.parametrize("fault", [error, timeout, lost])
async def test_an_answer_comes_though_it_cannot_be_counted(world: World, fault: Fault):
    documents = Faulty(world.documents, write=[fault])
    services = replace(world.services, app_calls=AppCalls(documents))

    answer = await call_service(services, ADA, "github", TOOL, {})

    assert answer == await call_service(services, ADA, "github", TOOL, {})
