"""API keys: their number, their use, and what separates one kind and one user from another (R7)."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from shared.data.account.api_keys import MAX_KEYS, USE_PRECISION, DeveloperKeys, McpKeys
from shared.domain.account.api_key import DeveloperKey, McpKey
from shared.domain.errors import Conflict, NotAuthenticated, NotFound
from shared.domain.ids import UserId
from shared.domain.store.documents import Delete
from shared.ports import Documents

ALICE = UserId("alice")
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


async def add_key(keys: McpKeys, random_text: str, uid: UserId = ALICE) -> str:
    secret = keys.build_secret(uid, random_text)
    label = keys.build_label(secret)
    await keys.add(uid, McpKey(id=keys.hash(secret), name="Editor", label=label, created_at=NOW))
    return secret


async def test_a_limit_of_keys_holds_when_many_are_made_at_once_r7(documents: Documents):
    keys = McpKeys(documents)

    results = await asyncio.gather(
        *(add_key(keys, f"random-{n}") for n in range(MAX_KEYS + 10)), return_exceptions=True
    )

    assert sum(isinstance(result, Conflict) for result in results) == 10
    assert len(await keys.list_all(ALICE)) == MAX_KEYS


async def test_a_removed_key_makes_room_for_another_r7(documents: Documents):
    keys = McpKeys(documents)
    secrets = [await add_key(keys, f"random-{n}") for n in range(MAX_KEYS)]

    await keys.remove(ALICE, keys.hash(secrets[3]))
    await add_key(keys, "another")

    with pytest.raises(Conflict):
        await add_key(keys, "one too many")


async def test_keys_of_before_the_list_count_towards_the_limit_r7(documents: Documents):
    keys = McpKeys(documents)
    for n in range(MAX_KEYS):
        await add_key(keys, f"random-{n}")
    await documents.write(Delete("users/alice/key_lists/mcp_keys"))

    with pytest.raises(Conflict):
        await add_key(keys, "one too many")


async def test_a_use_is_recorded_once_an_hour_r7(documents: Documents):
    keys = McpKeys(documents)
    secret = await add_key(keys, "random")
    uses = [NOW, NOW + USE_PRECISION / 2, NOW + USE_PRECISION * 2]
    recorded = []

    for at in uses:
        await keys.authenticate(secret, at)
        recorded.append((await keys.list_all(ALICE))[0].last_used_at)

    assert recorded == [uses[0], uses[0], uses[2]]


async def test_a_key_of_one_kind_is_none_of_the_other_r7(documents: Documents):
    keys, developer_keys = McpKeys(documents), DeveloperKeys(documents)
    secret = await add_key(keys, "random")
    owner_and_random_text = secret.removeprefix("ks_mcp_")

    for other in (f"ks_dev_{owner_and_random_text}", f"omi_dev_{owner_and_random_text}", secret):
        with pytest.raises(NotAuthenticated):
            await developer_keys.authenticate(other, NOW)
    assert (await keys.authenticate(f"omi_mcp_{owner_and_random_text}", NOW))[0] == ALICE


@pytest.mark.parametrize("name", ["", "a/b", "__all__", "x" * 65])
async def test_a_malformed_key_id_is_not_found_r7(documents: Documents, name: str):
    with pytest.raises(NotFound):
        await McpKeys(documents).remove(ALICE, name)


async def test_an_expired_key_is_refused_and_its_use_is_not_recorded_r7(documents: Documents):
    keys = DeveloperKeys(documents)
    secret = keys.build_secret(ALICE, "random")
    key = DeveloperKey(
        id=keys.hash(secret),
        name="Script",
        label=keys.build_label(secret),
        created_at=NOW,
        expires_at=NOW + timedelta(days=1),
    )
    await keys.add(ALICE, key)

    with pytest.raises(NotAuthenticated):
        await keys.authenticate(secret, NOW + timedelta(days=1))

    assert await keys.list_all(ALICE) == [key]
    assert key.label == "ks_dev_…ndom"
