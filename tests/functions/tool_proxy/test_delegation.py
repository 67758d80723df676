"""The tool proxy acts for the user whom its caller signed for, and for nobody else (S8)."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from httpx import AsyncClient, Response

from shared.domain.ids import UserId
from shared.security.delegations import DELEGATION_HEADER, DISCONNECT_CALL_ID, Purpose
from tests.fixtures.callers import DELEGATIONS, build_delegation_headers, build_service_headers
from tests.fixtures.notes_app import NotesFixture
from tests.fixtures.tool_pins import load_pin
from tests.fixtures.tool_proxy import ALICE

BOB = UserId("bob")


@pytest.fixture
async def http(world: NotesFixture) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(
        base_url=world.proxy_url, headers=await build_service_headers("tool_proxy")
    ) as client:
        yield client


async def call_find(
    world: NotesFixture, http: AsyncClient, app_id: str, headers: dict[str, str], **fields: Any
) -> Response:
    call = {"app_id": app_id, "tool": "find", "arguments": {"q": "x"}, "call_id": "c1"}
    pin = await load_pin(world.deps.stores, app_id, "find")
    return await http.post("/", json={**call, "pin": pin, **fields}, headers=headers)


async def test_a_call_is_made_for_the_user_of_its_delegation_s8(
    world: NotesFixture, http: AsyncClient
) -> None:
    app = await world.install()

    answer = await call_find(world, http, app["id"], build_delegation_headers(ALICE, "c1"))

    assert answer.status_code == 200
    [(_, _, body, _)] = world.notes.calls
    assert json.loads(body)["uid"] == ALICE


@pytest.mark.parametrize(
    ("headers", "fields"),
    [
        ({}, {}),
        ({}, {"uid": ALICE}),
        ({DELEGATION_HEADER: "forged"}, {"uid": ALICE}),
        (build_delegation_headers(ALICE, "c2"), {}),
        (build_delegation_headers(ALICE, "c1"), {"uid": BOB}),
        (build_delegation_headers(BOB, "c1"), {"uid": ALICE}),
        (build_delegation_headers(ALICE, "c1"), {"call_id": "c2"}),
        ({DELEGATION_HEADER: DELEGATIONS.sign("disconnect", ALICE, "c1")}, {}),
    ],
)
async def test_a_call_without_a_delegation_of_its_own_is_refused_s8(
    world: NotesFixture, http: AsyncClient, headers: dict[str, str], fields: dict[str, Any]
) -> None:
    app = await world.install()

    answer = await call_find(world, http, app["id"], headers, **fields)

    assert answer.status_code == 403
    assert world.notes.calls == []


async def test_another_users_installation_is_out_of_reach_s8(
    world: NotesFixture, http: AsyncClient
) -> None:
    app = await world.install()

    answer = await call_find(world, http, app["id"], build_delegation_headers(BOB, "c1"))

    assert answer.status_code == 422
    assert world.notes.calls == []


@pytest.mark.parametrize(("purpose", "status"), [("tool_call", 403), ("disconnect", 200)])
async def test_accounts_are_disconnected_only_by_an_erasure_s8(
    http: AsyncClient, purpose: Purpose, status: int
) -> None:
    token = DELEGATIONS.sign(purpose, ALICE, DISCONNECT_CALL_ID)

    answer = await http.post("/services/disconnect", json={}, headers={DELEGATION_HEADER: token})

    assert answer.status_code == status


async def test_a_service_is_not_called_without_a_delegation_s8(http: AsyncClient) -> None:
    body = {"service": "gmail", "tool": "get_gmail_messages", "call_id": "c1", "uid": ALICE}

    answer = await http.post("/services", json=body)

    assert answer.status_code == 403
