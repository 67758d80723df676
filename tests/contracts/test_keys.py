"""Keys contract: a value is unwrapped in the context it was wrapped for alone, embedded and in Cloud KMS."""

from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest

from shared.adapters.cloud.kms_keys import KmsKeys
from shared.adapters.embedded.local_identity import read_secret
from shared.adapters.embedded.local_keys import LocalKeys
from shared.domain.errors import CannotUnwrap, Unavailable
from shared.ports import Keys
from tests.servers.kms import KEY, FakeKms, fake_kms

TOKEN = b'{"access_token": "ya29.a0Af"}'
BOUND_TO = "ada|gmail"


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
async def test_a_wrapped_secret_can_be_unwrapped(keys: Keys, secret: bytes):
    wrapped = await keys.wrap(secret, bound_to=BOUND_TO)

    assert await keys.unwrap(wrapped, bound_to=BOUND_TO) == secret


async def test_wrapping_hides_the_secret_and_differs_each_time(keys: Keys):
    first, second = [await keys.wrap(TOKEN, bound_to=BOUND_TO) for _ in range(2)]

    assert first != second
    assert b"ya29" not in first


@pytest.mark.parametrize("other", ["eve|gmail", "ada|whoop", "", "ada"])
async def test_another_user_or_service_cannot_unwrap_it(keys: Keys, other: str):
    wrapped = await keys.wrap(TOKEN, bound_to=BOUND_TO)

    with pytest.raises(CannotUnwrap):
        await keys.unwrap(wrapped, bound_to=other)


@pytest.mark.parametrize(
    "damage",
    [lambda w: w[:-1] + bytes([w[-1] ^ 1]), lambda w: w[:5], lambda _: b"", lambda w: w + b"x"],
)
async def test_a_damaged_wrapping_is_refused(keys: Keys, damage: Callable[[bytes], bytes]):
    wrapped = await keys.wrap(TOKEN, bound_to=BOUND_TO)

    with pytest.raises(CannotUnwrap):
        await keys.unwrap(damage(wrapped), bound_to=BOUND_TO)


@pytest.mark.parametrize(
    "code", [grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.RESOURCE_EXHAUSTED]
)
async def test_a_refusing_kms_is_unavailable_not_unable_to_unwrap(
    kms: FakeKms, code: grpc.StatusCode
):
    keys = KmsKeys(KEY, address=kms.address)
    wrapped = await keys.wrap(TOKEN, bound_to=BOUND_TO)
    kms.failure = code

    with pytest.raises(Unavailable):
        await keys.wrap(TOKEN, bound_to=BOUND_TO)
    with pytest.raises(Unavailable):
        await keys.unwrap(wrapped, bound_to=BOUND_TO)


@pytest.mark.parametrize(
    ("state", "error"), [("DESTROYED", CannotUnwrap), ("DISABLED", Unavailable)]
)
async def test_what_a_destroyed_key_wrapped_cannot_be_unwrapped_any_more(
    kms: FakeKms, state: str, error: type[Exception]
):
    keys = KmsKeys(KEY, address=kms.address)
    wrapped = await keys.wrap(TOKEN, bound_to=BOUND_TO)
    kms.failure = grpc.StatusCode.FAILED_PRECONDITION
    kms.reason = f"{KEY}/cryptoKeyVersions/1 is not enabled, current state is: {state}."

    with pytest.raises(error):
        await keys.unwrap(wrapped, bound_to=BOUND_TO)
    with pytest.raises(Unavailable):
        await keys.wrap(TOKEN, bound_to=BOUND_TO)


async def test_a_key_of_another_name_is_unavailable(kms: FakeKms):
    with pytest.raises(Unavailable):
        await KmsKeys(f"{KEY}2", address=kms.address).wrap(TOKEN, bound_to=BOUND_TO)


async def test_the_local_key_is_created_once_and_readable_by_its_owner_only(tmp_path: Path):
    wrapped = await LocalKeys(read_secret(tmp_path, "keys")).wrap(TOKEN, bound_to=BOUND_TO)

    assert (
        await LocalKeys(read_secret(tmp_path, "keys")).unwrap(wrapped, bound_to=BOUND_TO) == TOKEN
    )
    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o600
    assert read_secret(tmp_path, "keys") != read_secret(tmp_path)
