"""Outbound quota: calls and manifest reads of a user are counted before they are made (S5)."""

import pytest

from shared.domain.errors import ToolFailed
from shared.domain.ids import AppId
from tests.fixtures.accounts import ADA, AccountsFixture
from tests.fixtures.notes_app import NotesFixture
from tests.fixtures.tool_proxy import ALICE
from tests.functions.tool_proxy.test_service_limits import TOOL
from tests.functions.tool_proxy.test_service_limits import world as accounts  # noqa: F401


async def test_calls_to_apps_end_with_the_days_quota_s5(world: NotesFixture) -> None:
    app_id = AppId((await world.install(ALICE))["id"])
    world.deps.quotas.limits = {"outbound_calls": 2}

    answers = [await world.call(app_id, q="x") for _ in range(2)]
    with pytest.raises(ToolFailed, match="today's 2 calls to apps and services") as refusal:
        await world.call(app_id, q="x")

    assert answers == ["Milk, eggs."] * 2
    assert "It continues at 00:00 UTC." in str(refusal.value)
    assert len(world.notes.calls) == 2


async def test_failing_manifests_count_and_are_refused_before_they_are_read_s5(
    world: NotesFixture,
) -> None:
    world.notes.manifest_status = 500
    world.deps.quotas.limits = {"outbound_calls": 3}

    statuses = [(await world.register()).status_code for _ in range(3)]
    refusal = await world.register()

    assert statuses == [502] * 3
    assert refusal.status_code == 429
    assert refusal.json()["violated-policies"] == ["outbound-calls"]
    assert refusal.headers["ratelimit"].startswith('"outbound-calls";r=0;t=')


async def test_calls_to_services_end_with_the_days_quota_s5(
    accounts: AccountsFixture,  # noqa: F811
) -> None:
    accounts.deps.quotas.limits = {"outbound_calls": 1}

    await accounts.call("github", TOOL)
    with pytest.raises(ToolFailed, match="today's 1 calls"):
        await accounts.call("github", TOOL)

    usage = await accounts.deps.quotas.load_usage(ADA, accounts.clock.now())
    assert usage["outbound_calls"] == 1
