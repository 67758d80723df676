"""Keys: what was wrapped comes back, for what it was wrapped for; embedded, and in Cloud KMS."""

from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest

from shared.adapters.kms_keys import KmsKeys
from shared.adapters.local_identity import read_secret
from shared.adapters.local_keys import LocalKeys
from shared.domain.errors import CannotUnwrap, Unavailable
from shared.ports import Keys
from tests.servers.kms import KEY, FakeKms, fake_kms

TOKEN = b'{"access_token": "ya29.a0Af"}'
MAIL = "ada|gmail"


@pytest.fixture
def kms() -> Iterator[FakeKms]:
    with fake_kms() as server:
        yield server


@pytest.fixture(params=["local", "kms"])
def keys(request: pytest.FixtureRequest) -> Keys:
    if request.param == "local":
        return LocalKeys(b"k" * 32)
    return KmsKeys(KEY, address=request.getfixturevalue("kms").address)


@pytest.mark.parametrize("secret", [TOKEN, b"", b"\x00\xff" * 16_384])
async def test_what_was_wrapped_comes_back(keys: Keys, secret: bytes):
    wrapped = await keys.wrap(secret, bound_to=MAIL)

    assert await keys.unwrap(wrapped, bound_to=MAIL) == secret


async def test_nothing_of_a_secret_shows_and_no_two_wrappings_are_alike(keys: Keys):
    first, second = [await keys.wrap(TOKEN, bound_to=MAIL) for _ in range(2)]

    assert first != second
    assert b"ya29" not in first


@pytest.mark.parametrize("other", ["eve|gmail", "ada|whoop", "", "ada"])
async def test_another_user_or_service_cannot_unwrap_it(keys: Keys, other: str):
    wrapped = await keys.wrap(TOKEN, bound_to=MAIL)

    with pytest.raises(CannotUnwrap):
        await keys.unwrap(wrapped, bound_to=other)


@pytest.mark.parametrize(
    "damage",
    [lambda w: w[:-1] + bytes([w[-1] ^ 1]), lambda w: w[:5], lambda _: b"", lambda w: w + b"x"],
)
async def test_what_is_damaged_is_refused(keys: Keys, damage: Callable[[bytes], bytes]):
    wrapped = await keys.wrap(TOKEN, bound_to=MAIL)

    with pytest.raises(CannotUnwrap):
        await keys.unwrap(damage(wrapped), bound_to=MAIL)


@pytest.mark.parametrize(
    "code", [grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.RESOURCE_EXHAUSTED]
)
async def test_a_kms_that_refuses_is_unavailable_and_its_secrets_are_not_lost(
    kms: FakeKms, code: grpc.StatusCode
):
    keys = KmsKeys(KEY, address=kms.address)
    wrapped = await keys.wrap(TOKEN, bound_to=MAIL)
    kms.failure = code

    with pytest.raises(Unavailable):
        await keys.wrap(TOKEN, bound_to=MAIL)
    with pytest.raises(Unavailable):
        await keys.unwrap(wrapped, bound_to=MAIL)


async def test_a_key_of_another_name_is_unavailable(kms: FakeKms):
    with pytest.raises(Unavailable):
        await KmsKeys(f"{KEY}2", address=kms.address).wrap(TOKEN, bound_to=MAIL)


async def test_the_local_key_is_made_once_and_for_its_owner_only(tmp_path: Path):
    wrapped = await LocalKeys(read_secret(tmp_path, "keys")).wrap(TOKEN, bound_to=MAIL)

    assert await LocalKeys(read_secret(tmp_path, "keys")).unwrap(wrapped, bound_to=MAIL) == TOKEN
    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o600
    assert read_secret(tmp_path, "keys") != read_secret(tmp_path)
