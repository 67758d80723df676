"""Signing out everywhere: no token of before is accepted any more, and the keys of programs end if that is wanted (S9)."""

from datetime import datetime, timedelta

import pytest

from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.erasure_guard import GuardedIdentity
from shared.data.account.sign_outs import SignOutCache, SignOuts
from shared.domain.account.account import round_up_to_second
from shared.domain.account.connected_program import ConnectedProgram
from shared.domain.account.profile import Device
from shared.domain.errors import NotAuthenticated
from shared.domain.ids import UserId
from shared.ports import Documents
from tests.fakes import AutoAdvanceClock, FixedClock, ScriptedModel
from tests.fixtures.library import build_client
from tests.fixtures.processing import ALICE, build_processing_fixture
from tests.functions.library.account.test_erasure import ZAPHOD, IssuedIdentity, issue

STALENESS = timedelta(seconds=30)
KEYS = ("/v1/mcp/keys", "/v1/dev/keys")


async def find_nothing(_: UserId) -> None:
    return None


def build_instance(documents: Documents, clock: FixedClock) -> GuardedIdentity:
    sign_outs = SignOutCache(SignOuts(documents), clock, STALENESS)
    return GuardedIdentity(IssuedIdentity(), find_nothing, sign_outs.find)


async def test_tokens_of_before_are_refused_by_every_instance_within_its_staleness_s9(
    documents: Documents,
) -> None:
    clock = FixedClock()
    instance = build_instance(documents, clock)
    before = issue(clock.now())
    await instance.verify(before)
    ended_at = round_up_to_second(clock.now())
    await SignOuts(documents).put(ZAPHOD, ended_at)
    clock.advance(seconds=STALENESS.total_seconds())

    with pytest.raises(NotAuthenticated, match="signed out everywhere"):
        await instance.verify(before)
    assert (await instance.verify(issue(ended_at))).uid == ZAPHOD


async def test_a_repeat_that_comes_late_changes_nothing_s9(documents: Documents) -> None:
    """It was sent before the second sign-out, after which its owner came back."""
    first = round_up_to_second(FixedClock().now())
    second = first + timedelta(seconds=5)
    for ended_at in (first, second, first):
        await SignOuts(documents).put(ZAPHOD, ended_at)

    assert await SignOuts(documents).find(ZAPHOD) == second


async def test_what_would_outlast_a_sign_out_asks_whether_there_was_one_s9(
    documents: Documents,
) -> None:
    clock = FixedClock()
    instance = build_instance(documents, clock)
    before = issue(clock.now())
    await instance.verify(before)
    await SignOuts(documents).put(ZAPHOD, round_up_to_second(clock.now() + timedelta(seconds=1)))

    assert (await instance.verify(before)).uid == ZAPHOD
    with pytest.raises(NotAuthenticated, match="signed out everywhere"):
        await instance.verify(before, check="revocation")


@pytest.mark.parametrize(("body", "left"), [(None, 1), ({}, 1), ({"revokes_keys": True}, 0)])
async def test_keys_of_programs_end_where_that_is_wanted_s9(
    database: SqliteDatabase, body: dict[str, bool] | None, left: int
) -> None:
    clock = AutoAdvanceClock()
    world = build_processing_fixture(database, ScriptedModel(), clock=clock)
    async with build_client(world, ALICE) as alice:
        for path in KEYS:
            await alice.post(path, json={"name": "script"})
        phone = Device(id="ios_1", fcm_token="t", time_zone="UTC", updated_at=clock.now())
        await world.deps.stores.devices.save(ALICE, phone)
        answer = await alice.post("/v1/users/sign-out", json=body)
        keys = [(await alice.get(path)).json() for path in KEYS]

    assert answer.json() == {"status": "ok"}
    assert await SignOuts(world.documents).find(ALICE) == clock.now()
    assert [len(listed) for listed in keys] == [left, left]
    assert await world.deps.stores.devices.list_all(ALICE) == []


async def test_programs_that_a_sign_in_let_in_end_with_it_s9(database: SqliteDatabase) -> None:
    clock = AutoAdvanceClock()
    world = build_processing_fixture(database, ScriptedModel(), clock=clock)
    programs = world.deps.stores.connected_programs
    await programs.connect(ALICE, build_connected_program(clock.now()))
    async with build_client(world, ALICE) as alice:
        before = await programs.list_connected(ALICE, clock.now())
        await alice.post("/v1/users/sign-out")

    assert len(before) == 1
    assert await programs.list_connected(ALICE, clock.now()) == []


def build_connected_program(now: datetime) -> ConnectedProgram:
    return ConnectedProgram(
        id="p1",
        client_id="c",
        name="Editor",
        redirect_uri="http://127.0.0.1/",
        scope="read",
        resource="https://keepsake.example/v1/mcp",
        created_at=now,
        expires_at=now + timedelta(days=1),
        code_hash="code",
        code_challenge="challenge",
        refresh_hash="token",
    )
