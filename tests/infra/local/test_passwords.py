"""Passwords of a self-hosted server: who is admitted, and what changes of a password do (U6)."""

import dataclasses
import stat
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from infra.local.attempts import MAX_FIRST, MAX_FURTHER, MAX_OF_AN_ADDRESS, AttemptLimits
from infra.local.gateway import build_public_app, list_served_hosts
from infra.local.local_key import LocalKey, LocalKeyCheck
from infra.local.passwords import PasswordCheck, hash_password, is_password, prepare_accounts
from infra.local.token_endpoint import TokenEndpoint
from shared.adapters.embedded.local_identity import LocalIdentity
from shared.adapters.embedded.password_file import PasswordFile
from shared.domain.errors import Invalid, NotAuthenticated, TooMany
from shared.settings import Settings, SettingsError
from tests.fakes import FixedClock
from tests.local_key import KEY_HEADER, LOCAL_KEY

pytestmark = pytest.mark.anyio
TOKEN = "/local/token"
PASSWORD = "Grüße an Opa"
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def file(tmp_path: Path) -> PasswordFile:
    file = PasswordFile(tmp_path)
    file.store("ann", hash_password(PASSWORD), now=LONG_AGO)
    return file


@pytest.fixture
async def http(file: PasswordFile, clock: FixedClock) -> AsyncIterator[httpx.AsyncClient]:
    limits = AttemptLimits(clock)
    key = LocalKey(secret=LOCAL_KEY, place="the note in the drawer")
    tokens = TokenEndpoint(
        LocalIdentity(b"secret", file), LocalKeyCheck(key, limits), PasswordCheck(file, limits)
    )
    app = build_public_app([], tokens, hosts=["127.0.0.1"])
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield client


async def sign_in(http: httpx.AsyncClient, uid: str, password: str) -> httpx.Response:
    return await http.post(TOKEN, json={"uid": uid, "password": password})


async def test_the_password_of_an_account_signs_in_as_that_account_alone_u6(http):
    own = await sign_in(http, "ann", PASSWORD)
    composed_otherwise = await sign_in(http, "ann", "Gru\u0308ße an Opa")
    refusals = [
        await sign_in(http, uid, password)
        for uid, password in (
            ("ann", "guess"),
            ("bob", PASSWORD),
            ("ann", ""),
            ("../ann", PASSWORD),
        )
    ]

    assert (await LocalIdentity(b"secret").verify(own.json()["token"])).uid == "ann"
    assert composed_otherwise.status_code == 200
    assert [answer.status_code for answer in refusals] == [401] * 4
    assert {answer.json()["detail"] for answer in refusals} == {
        "The name or the password is wrong."
    }


async def test_the_local_key_still_signs_in_the_commands_of_the_account_u6(http):
    answer = await http.post(TOKEN, json={"uid": "ann"}, headers=KEY_HEADER)
    wrong = await http.post(TOKEN, json={"uid": "ann"}, headers={"X-Local-Key": "guess"})

    assert (answer.status_code, wrong.status_code) == (200, 401)


async def test_guesses_are_limited_and_say_when_to_come_back_u6(http, clock):
    statuses = [(await sign_in(http, "ann", "guess")).status_code for _ in range(MAX_OF_AN_ADDRESS)]
    refused = await sign_in(http, "ann", PASSWORD)
    refused_key = await http.post(TOKEN, json={"uid": "ann"}, headers=KEY_HEADER)
    clock.advance(seconds=6)

    assert statuses == [401] * MAX_OF_AN_ADDRESS
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "6")
    assert refused_key.status_code == 429
    assert (await sign_in(http, "ann", PASSWORD)).status_code == 200


def test_many_addresses_together_have_a_limit_too_u6(clock):
    limits = AttemptLimits(clock)
    for number in range(MAX_FIRST):
        limits.check(f"10.0.{number % 8}.{number}")

    with pytest.raises(TooMany, match="Too many people try to sign in"):
        limits.check("10.1.0.1")


def test_addresses_that_guess_all_the_time_leave_others_their_first_attempt_u6(clock):
    limits, refusals = AttemptLimits(clock), []
    for number in range(10):
        for _ in range(MAX_OF_AN_ADDRESS):
            try:
                limits.check(f"10.0.0.{number}")
            except TooMany as refusal:
                refusals.append(str(refusal))

    assert len(refusals) == 10 * (MAX_OF_AN_ADDRESS - 1) - MAX_FURTHER
    limits.check("10.1.0.1")


def test_the_addresses_of_one_caller_count_together(clock):
    limits = AttemptLimits(clock)
    for number in range(MAX_OF_AN_ADDRESS):
        limits.check(f"2001:db8:1:2::{number:x}")

    with pytest.raises(TooMany, match="attempts a minute"):
        limits.check("2001:db8:1:2:ffff::1")
    limits.check("2001:db8:1:3::1")


async def test_the_console_learns_what_to_ask_for_u6(http):
    assert (await http.get("/config.json")).json() == {"sign_in": "password"}


@pytest.mark.parametrize("password", ["short", "x" * 129])
def test_a_password_that_is_too_short_or_too_long_is_refused_u6(password):
    with pytest.raises(Invalid, match="A password has 10 to 128 characters"):
        hash_password(password)


@pytest.mark.usefixtures("file")
def test_the_file_holds_slow_hashes_for_this_account_alone_u6(tmp_path):
    path = tmp_path / "passwords"

    assert path.read_text().startswith("ann:$argon2id$")
    assert PASSWORD not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("new_hash", ["", "another"])
async def test_changing_or_removing_a_password_ends_its_sessions_u6(file, new_hash):
    identity = LocalIdentity(b"secret", file)
    token = identity.issue("ann")
    of_others = identity.issue("bob")
    await identity.verify(token)

    file.store("ann", new_hash, now=datetime.now(UTC) + timedelta(minutes=1))

    with pytest.raises(NotAuthenticated):
        await identity.verify(token)
    await identity.verify(of_others)
    assert file.find_hash("ann") == (new_hash or None)


def test_a_password_of_the_settings_is_stored_once_u6(tmp_path, clock):
    file = PasswordFile(tmp_path)
    settings = Settings(data_dir=tmp_path, user="ann", password=PASSWORD)

    assert prepare_accounts(settings, file, clock) is None
    stored = file.find_hash("ann")
    assert prepare_accounts(settings, file, clock) is None
    assert file.find_hash("ann") == stored
    assert file.list_names() == ["ann"]


def test_a_password_can_come_from_a_file_u6(tmp_path, clock):
    file = PasswordFile(tmp_path)
    secret = tmp_path / "secret.txt"
    secret.write_text(f"{PASSWORD}\n")

    prepare_accounts(Settings(data_dir=tmp_path, password_file=secret), file, clock)

    stored = file.find_hash("me")
    assert stored
    assert is_password(stored, PASSWORD)


def test_without_any_account_a_password_is_made_once_u6(tmp_path, clock):
    file = PasswordFile(tmp_path)

    made = prepare_accounts(Settings(data_dir=tmp_path), file, clock)

    assert made
    assert is_password(file.find_hash("me") or "", made)
    assert prepare_accounts(Settings(data_dir=tmp_path), file, clock) is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"password": "short"}, "KEEPSAKE_PASSWORD: A password has 10"),
        ({"password_file": Path("/nowhere/secret")}, "PASSWORD_FILE=/nowhere/secret: "),
    ],
)
def test_a_password_that_cannot_be_used_stops_the_start_u6(tmp_path, clock, settings, message):
    with pytest.raises(SettingsError, match=message):
        prepare_accounts(Settings(data_dir=tmp_path, **settings), PasswordFile(tmp_path), clock)


def test_the_public_address_is_served_only_where_others_are_let_in_u6():
    private = Settings(public_url="https://Keepsake.example.org:8443")
    remote = dataclasses.replace(private, allow_remote=True)

    assert "keepsake.example.org" in list_served_hosts(remote)
    assert "keepsake.example.org" not in list_served_hosts(private)
