"""Accounts of a self-hosted server in the console: a password of one's own, and invitations (U6)."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from infra.local.accounts_endpoint import ONLY_THE_OPERATOR, SET_IN_ENVIRONMENT, AccountsEndpoint
from infra.local.attempts import AttemptLimits
from infra.local.gateway import build_public_app
from infra.local.local_key import LocalKey, LocalKeyCheck
from infra.local.passwords import PasswordCheck, hash_password
from infra.local.token_endpoint import TokenEndpoint
from shared.adapters.embedded.local_identity import LocalIdentity
from shared.adapters.embedded.password_file import PasswordFile
from shared.adapters.system_clock import SystemClock
from shared.settings import Settings
from tests.local_key import LOCAL_KEY

pytestmark = pytest.mark.anyio
OLD, NEW = "the first password", "the second password"
CHANGE = {"uid": "bob", "password": OLD, "new_password": NEW}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return replace(Settings.from_env(), data_dir=tmp_path, user="ann", password=None)


@pytest.fixture
async def http(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with open_server(settings) as client:
        yield client


def open_server(settings: Settings) -> httpx.AsyncClient:
    """Serve ann, the operator, and bob, whose passwords are an hour old."""
    clock = SystemClock()
    file, limits = PasswordFile(settings.data_dir), AttemptLimits(clock)
    for name in ("ann", "bob"):
        file.store(name, hash_password(OLD), now=clock.now() - timedelta(hours=1))
    identity, check = LocalIdentity(b"secret", file), PasswordCheck(file, limits)
    key = LocalKey(secret=LOCAL_KEY, place="the note in the drawer")
    tokens = TokenEndpoint(identity, LocalKeyCheck(key, limits), check)
    accounts = AccountsEndpoint(settings, file, check, identity, clock)
    app = build_public_app([], tokens, accounts=accounts, hosts=["127.0.0.1"])
    transport = httpx.ASGITransport(app)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")


async def sign_in(http: httpx.AsyncClient, uid: str, password: str) -> httpx.Response:
    return await http.post("/local/token", json={"uid": uid, "password": password})


async def build_headers(http: httpx.AsyncClient, uid: str) -> dict[str, str]:
    token = (await sign_in(http, uid, OLD)).json()["token"]
    return {"Authorization": f"Bearer {token}"}


async def test_who_knows_a_password_changes_it_and_the_old_one_ends_u6(http):
    wrong = await http.post("/local/password", json={**CHANGE, "password": "a guess of mine"})
    short = await http.post("/local/password", json={**CHANGE, "new_password": "short"})
    assert (wrong.status_code, short.status_code) == (401, 422)

    assert (await http.post("/local/password", json=CHANGE)).status_code == 204

    assert [(await sign_in(http, "bob", word)).status_code for word in (OLD, NEW)] == [401, 200]


async def test_a_password_of_the_environment_is_changed_there(settings):
    async with open_server(replace(settings, password=OLD)) as http:
        answer = await http.post("/local/password", json={**CHANGE, "uid": "ann"})

    assert (answer.status_code, answer.json()["detail"]) == (409, SET_IN_ENVIRONMENT)


async def test_the_operator_invites_people_and_lists_them_u6(http):
    operator = await build_headers(http, "ann")

    invitation = await http.post("/local/accounts", json={"uid": "cleo"}, headers=operator)
    again = await http.post("/local/accounts", json={"uid": "cleo"}, headers=operator)
    unnamed = await http.post("/local/accounts", json={"uid": "../x"}, headers=operator)

    assert (invitation.status_code, again.status_code, unnamed.status_code) == (201, 409, 422)
    assert (await sign_in(http, "cleo", invitation.json()["password"])).status_code == 200
    listed = await http.get("/local/accounts", headers=operator)
    assert listed.json() == {"names": ["ann", "bob", "cleo"]}


async def test_nobody_else_lists_or_invites(http):
    guest = await build_headers(http, "bob")

    refusals = [
        await http.get("/local/accounts", headers=guest),
        await http.post("/local/accounts", json={"uid": "cleo"}, headers=guest),
        await http.get("/local/accounts"),
    ]

    assert [answer.status_code for answer in refusals] == [403, 403, 401]
    assert refusals[0].json()["detail"] == ONLY_THE_OPERATOR
