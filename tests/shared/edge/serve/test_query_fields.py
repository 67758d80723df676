"""Fields of a body that released apps send in the query (S7)."""

from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any

import httpx
import pytest
from pydantic import Field

from shared.domain.errors import NotAuthenticated
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire
from shared.edge.serve.http import build_application
from tests.shared.edge.serve.test_http import FakeAuthDeps

pytestmark = pytest.mark.anyio


class NoteIn(Wire):
    title: Annotated[str, Field(max_length=10)]
    tag: str | None = None


@route("PATCH", "/note", "Change", access="anyone", is_query_accepted=True, max_bytes=50)
async def change_note(_: FakeAuthDeps, call: Call[NoteIn]) -> NoteIn:
    return call.body


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(build_application("shop", (change_note,), FakeAuthDeps()))
    async with httpx.AsyncClient(transport=transport, base_url="http://shop") as client:
        yield client


@pytest.mark.parametrize(
    ("request_parts", "title", "tag"),
    [
        ({"json": {"title": "body"}}, "body", None),
        ({"params": {"title": "query"}}, "query", None),
        ({"params": {"title": "query"}, "json": {"title": "body"}}, "body", None),
        ({"params": {"tag": "query"}, "json": {"title": "body"}}, "body", "query"),
        ({"params": {"title": "first"}, "headers": {"content-type": "text/plain"}}, "first", None),
    ],
)
async def test_the_body_comes_before_the_query_s7(
    http: httpx.AsyncClient, request_parts: dict[str, Any], title: str, tag: str | None
):
    response = await http.patch("/note", **request_parts)

    assert response.json() == {"title": title, "tag": tag}


@pytest.mark.parametrize(
    ("request_parts", "status"),
    [
        ({}, 422),
        ({"params": {"title": "x" * 11}}, 422),
        ({"json": {"title": 3}}, 422),
        ({"json": ["title"]}, 422),
        ({"content": "{", "headers": {"content-type": "application/json"}}, 400),
        ({"content": "title=x"}, 415),
        ({"json": {"title": "x" * 60}}, 413),
    ],
)
async def test_content_of_either_place_is_validated_s7(
    http: httpx.AsyncClient, request_parts: dict[str, Any], status: int
):
    response = await http.patch("/note", **request_parts)

    assert response.status_code == status
    assert "x" * 11 not in response.text


async def test_a_body_in_chunks_counts_as_a_body_s7(http: httpx.AsyncClient):
    async def stream() -> AsyncIterator[bytes]:
        yield b'{"title":'
        yield b'"body"}'

    headers = {"content-type": "application/json", "transfer-encoding": "chunked"}
    response = await http.patch("/note", params={"title": "x"}, content=stream(), headers=headers)

    assert response.json()["title"] == "body"


class TagQuery(Wire):
    tag: str


async def know_caller(_: FakeAuthDeps, call: Call[None, Mapping[str, str]]) -> str:
    if call.headers.get("authorization") != "key":
        raise NotAuthenticated("Send a key")
    return call.query.get("owner", "")


@route("GET", "/tagged", "List", access="anyone", authorize=know_caller)
async def list_tagged(_: FakeAuthDeps, call: Call[None, TagQuery, str]) -> str:
    return f"{call.caller} {call.query.tag}"


@pytest.mark.parametrize(
    ("key", "query", "status"),
    [
        ("", {}, 401),
        ("forged", {"tag": "a"}, 401),
        ("key", {}, 422),
        ("key", {"owner": "ada", "tag": "a"}, 200),
    ],
)
async def test_credentials_are_looked_at_before_the_query_s4(
    key: str, query: dict[str, str], status: int
) -> None:
    transport = httpx.ASGITransport(build_application("shop", (list_tagged,), FakeAuthDeps()))
    async with httpx.AsyncClient(transport=transport, base_url="http://shop") as client:
        answer = await client.get("/tagged", params=query, headers={"authorization": key})

    assert answer.status_code == status
