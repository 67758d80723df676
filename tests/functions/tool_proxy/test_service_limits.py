"""Call quota of connected services, shared with that of apps (P7, T9)."""

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from functions.tool_proxy.accounts.service_calls import call_service
from functions.tool_proxy.call_quota import MAX_CALLS_PER_APP_HOUR, MAX_CALLS_PER_USER_HOUR
from shared.data.stores import Stores
from shared.domain.errors import ToolFailed
from shared.domain.ids import UserId
from shared.domain.store.documents import Set
from shared.resilience.hour_windows import floor_to_hour
from tests.fault_injection import (
    Fault,
    FaultyPort,
    lose_response,
    raise_timed_out,
    raise_unavailable,
)
from tests.fixtures.accounts import ADA, AccountsFixture, open_accounts_fixture
from tests.servers.provider import FakeProvider

BOB = UserId("bob")
TOOL = "get_github_issues"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[AccountsFixture]:
    answers = {"GET /search/issues": [(200, {"total_count": 0, "items": []})]}
    async with open_accounts_fixture(tmp_path, FakeProvider(answers=answers)) as world:
        await world.connect("github")
        yield world


async def set_call_counts(world: AccountsFixture, counts: dict[str, int]) -> None:
    hour = floor_to_hour(world.clock.now())
    fields = {"apps": counts, "expires_at": hour + timedelta(hours=1)}
    await world.documents.write(Set(f"users/{ADA}/limits/calls-{hour:%Y-%m-%d-%H}", fields))


async def read_call_counts(world: AccountsFixture) -> dict[str, int]:
    hour = floor_to_hour(world.clock.now())
    context = await world.services.stores.app_calls.load_service_context(ADA, hour)
    return dict(context.calls_this_hour)


async def test_calls_per_user_service_and_hour_are_limited_p7_t9(world: AccountsFixture):
    await world.connect("github", uid=BOB)
    await set_call_counts(world, {"github": MAX_CALLS_PER_APP_HOUR - 1})

    last_allowed_answer = await world.call("github", TOOL)
    with pytest.raises(
        ToolFailed, match=f"limit of {MAX_CALLS_PER_APP_HOUR} calls an hour to GitHub is reached"
    ):
        await world.call("github", TOOL)
    answer_to_another_user = await world.toolbox.call_service(BOB, "github", TOOL, {}, call_id="c1")

    assert last_allowed_answer == answer_to_another_user.visible_text
    assert len(world.requests) == 2


async def test_service_calls_and_app_calls_share_the_limit_per_user_p7_t9(world: AccountsFixture):
    await set_call_counts(world, {f"app{n}": MAX_CALLS_PER_USER_HOUR // 6 for n in range(6)})

    with pytest.raises(ToolFailed, match="all apps and services together"):
        await world.call("github", TOOL)

    assert world.requests == []


async def test_failed_service_calls_count_towards_the_limit_p7_t9(world: AccountsFixture):
    await world.call("github", TOOL)
    world.provider.answers["GET /search/issues"] = [(500, {})]
    with pytest.raises(ToolFailed):
        await world.call("github", TOOL)
    with pytest.raises(ToolFailed, match="is not connected"):
        await world.call("gmail", "get_gmail_messages")

    assert await read_call_counts(world) == {"github": 2, "gmail": 1}


async def test_checking_the_limit_takes_one_round_of_reads_and_one_write_per_call_t9(
    world: AccountsFixture,
):
    documents = FaultyPort(world.documents)
    services = replace(world.services, stores=Stores(documents))

    for _ in range(2):
        await call_service(services, ADA, "github", TOOL, {})

    assert documents.calls == Counter(get_many=2, write=2)


@pytest.mark.parametrize("fault", [raise_unavailable, raise_timed_out, lose_response])
async def test_a_call_that_cannot_be_counted_is_answered(world: AccountsFixture, fault: Fault):
    documents = FaultyPort(world.documents, write=[fault])
    services = replace(world.services, stores=Stores(documents))

    answer = await call_service(services, ADA, "github", TOOL, {})

    assert answer == await call_service(services, ADA, "github", TOOL, {})
