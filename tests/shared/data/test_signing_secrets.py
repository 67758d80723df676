"""Signing secrets: wrapped for one app each, unwrapped once (T8)."""

from dataclasses import replace
from datetime import timedelta

import pytest

from shared.adapters.embedded.local_keys import LocalKeys
from shared.data.apps.signing_secrets import MAX_CACHED, SigningSecrets
from shared.domain.apps.app import App, RetiredSecret
from shared.domain.errors import CannotUnwrap
from shared.domain.ids import AppId, UserId
from tests.fakes import FixedClock

NOTES, SECRET, OLD_SECRET = AppId("A1"), "whsec_bmV3", "whsec_b2xk"
CLOCK = FixedClock()
APP = App(id=NOTES, owner=UserId("dev"), name="Notes", created_at=CLOCK.now())


class CountingKeys(LocalKeys):
    """Counts how often a secret is unwrapped."""

    unwrapped = 0

    async def unwrap(self, wrapped: bytes, *, bound_to: str) -> bytes:
        self.unwrapped += 1
        return await super().unwrap(wrapped, bound_to=bound_to)


@pytest.fixture
def keys() -> CountingKeys:
    return CountingKeys(b"k" * 32)


async def test_a_stored_secret_does_not_show_itself_and_is_unwrapped_once_t8(keys: CountingKeys):
    secrets = SigningSecrets(keys)
    stored = await secrets.wrap(NOTES, SECRET)

    unwrapped = [await secrets.unwrap(NOTES, stored) for _ in range(3)]

    assert SECRET not in stored
    assert (unwrapped, keys.unwrapped) == ([SECRET] * 3, 1)


async def test_a_secret_of_another_app_cannot_be_used_t8(keys: CountingKeys):
    secrets = SigningSecrets(keys)
    stored = await secrets.wrap(NOTES, SECRET)
    await secrets.unwrap(NOTES, stored)

    with pytest.raises(CannotUnwrap):
        await secrets.unwrap(AppId("A2"), stored)


async def test_both_secrets_are_loaded_during_a_rotation_also_one_stored_as_it_is_t8(
    keys: CountingKeys,
):
    secrets = SigningSecrets(keys)
    retired = RetiredSecret(secret=OLD_SECRET, until=CLOCK.now() + timedelta(hours=1))
    stored = await secrets.wrap(NOTES, SECRET)
    app = replace(APP, signing_secret=stored, retired_secret=retired)

    assert await secrets.load(app, CLOCK.now()) == [SECRET, OLD_SECRET]
    assert (await secrets.reveal(app)).signing_secret == SECRET


async def test_the_cache_is_bounded_t8(keys: CountingKeys):
    secrets = SigningSecrets(keys)
    stored = [await secrets.wrap(NOTES, f"whsec_{n}") for n in range(MAX_CACHED + 1)]
    for secret in (*stored, *stored[1:], stored[0]):
        await secrets.unwrap(NOTES, secret)

    assert keys.unwrapped == MAX_CACHED + 2
