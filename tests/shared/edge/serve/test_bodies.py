"""Request bodies: when they are read, and the limits of their size and of what parsing them costs."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import ASGIApp, Message

from functions.chat.api import internal_routes
from functions.chat.api import routes as chat
from functions.library import routes as process_conversation
from functions.library.account import account
from functions.media.files import file_routes
from functions.notifications import delivery_routes
from functions.notifications import routes as notifications
from functions.process_conversation.processing import processing_routes
from functions.tool_proxy import routes as tool_proxy
from functions.tool_proxy.calls import call_routes, service_routes
from functions.tool_proxy.webhooks import webhook_routes
from infra.openapi import list_public_routes
from shared.adapters.embedded.local_identity import LocalIdentity
from shared.data.store.codec import type_adapter
from shared.edge.declare.routes import DEFAULT_MAX_BYTES, Call, Route, route
from shared.edge.serve import bodies
from shared.edge.serve.http import build_application
from tests.fakes import FixedClock
from tests.fixtures.callers import SERVICE_IDENTITY

pytestmark = pytest.mark.anyio

ALL_ROUTES: dict[str, Route[Any]] = {
    f"{row.method} {row.path} {row.handler.__name__}": row
    for module in (
        chat, internal_routes, notifications, delivery_routes, process_conversation, file_routes, account, processing_routes,
        tool_proxy, call_routes, service_routes, webhook_routes,
    )
    for rows in vars(module).values()
    if isinstance(rows, tuple)
    for row in rows
    if isinstance(row, Route)
}  # fmt: skip
WITH_BODIES = {name: row for name, row in ALL_ROUTES.items() if row.body is not None}
OF_STRANGERS = {
    "POST /v1/mcp/register register_program",
    "POST /v1/mcp/token issue_tokens",
    "POST /v1/mcp/revoke revoke_token",
}
"""Programs have no credentials there, as OAuth asks it: what they prove stands in the body."""


@dataclass(frozen=True)
class FakeDeps:
    identity = LocalIdentity(b"secret")
    service_identity = SERVICE_IDENTITY
    clock = FixedClock()
    stores: Any = None
    cors_origins: tuple[str, ...] = ()
    public_url = "https://keepsake.example"


@dataclass
class BodySender:
    """A client's side of one request: the chunks of its body, and how many were read."""

    chunks: list[bytes]
    read_count: int = 0
    messages: list[Message] = field(default_factory=list)

    async def receive(self) -> Message:
        chunk = self.chunks[self.read_count]
        self.read_count += 1
        is_last = self.read_count == len(self.chunks)
        return {"type": "http.request", "body": chunk, "more_body": not is_last}

    async def send(self, message: Message) -> None:
        self.messages.append(message)

    async def post(self, app: ASGIApp, row: Route[Any], **headers: str) -> int:
        """Send the request; returns the status of its answer."""
        all_headers = {"content_type": "application/json", **headers}
        encoded = [(n.replace("_", "-").encode(), v.encode()) for n, v in all_headers.items()]
        path = row.path.replace("{", "").replace("}", "")
        scope = {
            "type": "http",
            "method": row.method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"uid=alice&session_id=s1",
            "headers": encoded,
        }
        await app(scope, self.receive, self.send)
        status: int = self.messages[0]["status"]
        return status

    @property
    def answer(self) -> Any:
        return json.loads(b"".join(message.get("body", b"") for message in self.messages))


@pytest.mark.parametrize(
    "row",
    [row for name, row in WITH_BODIES.items() if name not in OF_STRANGERS],
    ids=[name for name in WITH_BODIES if name not in OF_STRANGERS],
)
async def test_a_body_is_not_read_without_credentials_s4(row: Route[Any]) -> None:
    sender = BodySender([b"{}"])

    status = await sender.post(build_application("shop", [row], FakeDeps()), row)

    assert (status, sender.read_count) == (401, 0)


def test_the_bodies_of_strangers_are_short_s4() -> None:
    assert {WITH_BODIES[name].max_bytes <= 32_768 for name in OF_STRANGERS} == {True}


def test_every_public_route_with_a_body_is_tested_s4() -> None:
    public = {
        f"{public.row.method} {public.row.path} {public.row.handler.__name__}"
        for public in list_public_routes()
        if public.row.body is not None
    }

    assert public <= set(WITH_BODIES)
    assert len(WITH_BODIES) > len(public)


@route("POST", "/texts", "Take texts", access="anyone", max_bytes=100)
async def take_texts(_: FakeDeps, call: Call[list[str]]) -> list[str]:
    return call.body


@route("POST", "/values", "Take anything", access="anyone", max_bytes=8_388_608)
async def take_values(_: FakeDeps, call: Call[list[Any]]) -> int:
    return len(call.body)


async def test_a_body_that_declares_too_many_bytes_is_413_unread_s4() -> None:
    sender = BodySender([b"[]"])

    status = await sender.post(build(take_texts), take_texts, content_length="101")

    assert (status, sender.read_count) == (413, 0)
    assert sender.answer["detail"] == "The request body is over 100 bytes."


async def test_a_body_without_a_declared_length_is_counted_while_it_is_read_s4() -> None:
    sender = BodySender([b" " * 50] * 10)

    status = await sender.post(build(take_texts), take_texts, transfer_encoding="chunked")

    assert (status, sender.read_count) == (413, 3)


async def test_a_body_that_is_longer_than_it_declares_is_counted_s4() -> None:
    sender = BodySender([b" " * 50] * 10)

    status = await sender.post(build(take_texts), take_texts, content_length="50")

    assert (status, sender.read_count) == (413, 3)


async def test_a_body_as_long_as_its_limit_is_read_s4() -> None:
    body = json.dumps(["x" * 96]).encode()
    sender = BodySender([body[:40], body[40:]])

    status = await sender.post(build(take_texts), take_texts, content_length="100")

    assert (status, len(body), sender.answer) == (200, 100, ["x" * 96])


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"[" + b",".join([b"{}"] * 200_000) + b"]", 413),
        (b"[" + b",".join([b"0"] * 300_000) + b"]", 413),
        (b"[" + b",".join([b'""'] * 900_000) + b"]", 413),
        (b"[" + b",".join([b"0"] * 240_000) + b"]", 200),
        (b'["' + b"[,{" * 200_000 + b'"]', 200),
        (b'["' + rb"\"," * 500_000 + b'"]', 200),
        (b'["' + rb"\"," * 500_000, 400),
    ],
    ids=["maps", "numbers", "texts", "fewer", "in-a-text", "escaped-quotes", "unclosed"],
)
async def test_a_body_of_too_many_values_is_not_parsed_s4(body: bytes, status: int) -> None:
    sender = BodySender([body])

    assert await sender.post(build(take_values), take_values) == status
    if status == 413:
        assert sender.answer["detail"] == "The request body has over 250000 values."


json_values = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)


def count_values(content: Any) -> Iterator[int]:
    yield 1
    inner = content.values() if isinstance(content, dict) else content
    for item in inner if isinstance(content, list | dict) else ():
        yield from count_values(item)


@given(json_values)
def test_no_text_is_parsed_that_has_more_values_than_allowed_s4(content: Any) -> None:
    body = bytearray(json.dumps(content, ensure_ascii=False).encode(errors="replace"))
    count = sum(count_values(content))

    assert bodies._has_more_values(body, count - 1)
    assert not bodies._has_more_values(body, 2 * count)


def build(row: Route[Any]) -> ASGIApp:
    return build_application("shop", [row], FakeDeps())


BOUNDED_AS_A_WHOLE = {
    "text",
    "transcript_segments",
    "message",
    "messages",
    "persona_prompt",
    "daily_steps",
}
"""Fields of bodies whose handlers bound all their text together, or name its limit themselves."""
SHORT = {"id", "ids", "aid", "uid", "time_zone", "category", "conversation_id", "context", "source"}
"""Names whose values are short, although no schema says so."""


@pytest.mark.parametrize(
    "row", [public.row for public in list_public_routes() if public.row.body not in (None, bytes)],
    ids=lambda row: f"{row.method} {row.path}",
)  # fmt: skip
def test_a_route_reads_no_more_than_its_content_needs_s4(row: Route[Any]) -> None:
    """The longest content in any script fits, and a body of twice its size, all escaped, does not."""
    schema = type_adapter(row.body).json_schema()
    if BOUNDED_AS_A_WHOLE & schema.get("properties", {}).keys():
        return

    needed_bytes = count_max_bytes(schema, schema.get("$defs", {}))

    assert needed_bytes <= row.max_bytes <= max(DEFAULT_MAX_BYTES, 4 * needed_bytes)


def count_max_bytes(schema: Any, definitions: Any, name: str = "") -> int:
    """Count the bytes of the longest JSON that a schema allows, with three bytes a character."""
    if "$ref" in schema:
        return count_max_bytes(definitions[schema["$ref"].rpartition("/")[2]], definitions, name)
    if "anyOf" in schema:
        return max(count_max_bytes(choice, definitions, name) for choice in schema["anyOf"])
    return _count_max_bytes(schema, definitions, name)


def _count_max_bytes(schema: Any, definitions: Any, name: str) -> int:
    match schema.get("type"):
        case "string" if "maxLength" in schema:
            return 3 * int(schema["maxLength"]) + 2
        case "array" if "maxItems" in schema:
            item_bytes = count_max_bytes(schema["items"], definitions, name)
            return int(schema["maxItems"]) * (item_bytes + 2)
        case "object" if "properties" in schema:
            fields = schema["properties"].items()
            return sum(len(key) + 6 + count_max_bytes(f, definitions, key) for key, f in fields)
        case "object" if "propertyNames" in schema:
            entry_bytes = count_max_bytes(schema["additionalProperties"], definitions, name)
            return sum(len(key) + 6 + entry_bytes for key in schema["propertyNames"]["enum"])
        case "string" if {"enum", "const", "format", "pattern"} & schema.keys() or name in SHORT:
            return 66
        case "integer" | "number" | "boolean" | "null":
            return 24
    raise AssertionError(f"{name}: nothing bounds {schema}")


async def test_a_request_that_was_sent_long_ago_is_408_on_public_routes_s4() -> None:
    now_s = FakeDeps.clock.now().timestamp()
    transport = httpx.ASGITransport(build(take_texts))
    async with httpx.AsyncClient(transport=transport, base_url="http://shop") as http:

        async def post(sent_at: str) -> httpx.Response:
            return await http.post("/texts", json=[], headers={"X-Request-Start-Time": sent_at})

        assert [
            (await post(sent_at)).status_code
            for sent_at in (
                str(now_s), str(now_s - 300), str(now_s + 9_999), "", "soon", "nan",
                str(now_s - 300.1), "0", "-inf",
            )
        ] == [200, 200, 200, 200, 200, 200, 408, 408, 408]  # fmt: skip
        answer = await post(str(now_s - 400))

    assert answer.json()["detail"] == "Request is too old and has been rejected."
    assert (answer.json()["error"], answer.json()["skew_seconds"]) == ("clock_skew", 400)
