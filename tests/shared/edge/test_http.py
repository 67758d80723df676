"""A request on its way through the route table, where the handler is not what is tested."""

import traceback
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx
import pytest

from shared.adapters.local_identity import LocalIdentity, LocalServiceIdentity
from shared.data.codec import Malformed, load
from shared.domain.documents import Document
from shared.domain.profile import Profile
from shared.edge.http import Call, Endpoint, application

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Callers:
    identity = LocalIdentity(b"secret")
    service_identity = LocalServiceIdentity(b"secret")


async def broken(_deps: Callers, _call: Call[None]) -> None:
    raise RuntimeError("her diagnosis")


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    rows = [
        Endpoint(method="GET", path="/broken", handler=broken, summary="", access="anyone"),
        Endpoint(method="POST", path="/", handler=broken, summary="", access="service"),
    ]
    transport = httpx.ASGITransport(application("shop", rows, Callers()))
    async with httpx.AsyncClient(transport=transport, base_url="http://shop") as client:
        yield client


async def test_a_bug_is_a_problem_that_says_nothing_of_itself(http: httpx.AsyncClient):
    answer = await http.get("/broken")

    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"] == "Internal Server Error"


async def test_only_a_service_token_for_this_function_opens_an_internal_endpoint(
    http: httpx.AsyncClient,
):
    user = Callers.identity.issue("alice")
    other = await Callers.service_identity.token("chat")

    for token in (user, other):
        answer = await http.post("/", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 401


def test_what_is_logged_of_a_malformed_document_holds_none_of_its_content():
    document = Document(path="users/alice", fields={"name": {"is": "her diagnosis"}}, version="")

    with pytest.raises(Malformed) as failed:
        load(Profile, document)

    assert "diagnosis" not in "".join(traceback.format_exception(failed.value))
