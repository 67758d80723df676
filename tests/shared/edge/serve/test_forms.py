"""Multipart forms: what is read of one, and when it is refused (S4)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from shared.domain.amounts import describe_bytes
from shared.edge.declare.routes import Call, Form, route
from shared.edge.serve.forms import MAX_ENVELOPE_BYTES, MAX_FIELDS
from shared.edge.serve.http import build_application
from tests.fixtures.callers import open_client
from tests.shared.edge.serve.test_bodies import BodySender, FakeDeps

pytestmark = pytest.mark.anyio

FORM = Form(json_field="app_data", file_field="file", max_file_bytes=500)
MAX_BYTES = 100 + FORM.max_file_bytes + MAX_ENVELOPE_BYTES
FORM_TYPE = "multipart/form-data; boundary=b"


@route("POST", "/apps", "Take a form", access="anyone", max_bytes=100, form=FORM)
async def take_form(_: FakeDeps, call: Call[dict[str, str]]) -> dict[str, Any]:
    file = call.file
    return {**call.body, "file": file and [file.name, file.content.decode()]}


@route("POST", "/own", "Take a form of a user", max_bytes=100, form=FORM)
async def take_own_form(_: FakeDeps, call: Call[dict[str, str]]) -> dict[str, Any]:
    return dict(call.body)


@route(
    "POST",
    "/notes",
    "Take a form of texts",
    access="anyone",
    max_bytes=100,
    form=Form(json_field=None, file_field="file", max_file_bytes=500),
)
async def take_texts(_: FakeDeps, call: Call[dict[str, str]]) -> dict[str, Any]:
    return {**call.body, "file": call.file and call.file.name}


def build_form(
    *parts: tuple[str, str | None, bytes], end: bytes = b"--b--\r\n", extra: str = ""
) -> bytes:
    """Return a form of (name, file name, content)."""
    body = b""
    for name, file_name, content in parts:
        suffix = f'; filename="{file_name}"' if file_name is not None else ""
        head = f'--b\r\nContent-Disposition: form-data; name="{name}"{suffix}\r\n{extra}\r\n'
        body += head.encode() + content + b"\r\n"
    return body + end


async def post(body: bytes, content_type: str = FORM_TYPE) -> tuple[int, Any]:
    async with open_client("shop", [take_form], FakeDeps()) as client:
        answer = await client.post("/apps", content=body, headers={"content-type": content_type})
    return answer.status_code, answer.json()


def send(chunks: Sequence[bytes], **headers: str) -> tuple[BodySender, Mapping[str, str]]:
    return BodySender(list(chunks)), {"content_type": FORM_TYPE, **headers}


DATA = ("app_data", None, b'{"name": "Notes"}')
LOGO = ("file", "logo.png", b"picture")


@pytest.mark.parametrize(
    ("parts", "read"),
    [
        ([("language", None, b"de"), LOGO], {"language": "de", "file": "logo.png"}),
        ([LOGO], {"file": "logo.png"}),
        ([("language", None, b'"quoted"')], {"language": '"quoted"', "file": None}),
    ],
)
async def test_a_form_without_a_json_field_is_its_texts_and_its_file(
    parts: list[tuple[str, str | None, bytes]], read: dict[str, Any]
) -> None:
    headers = {"content-type": FORM_TYPE}
    async with open_client("shop", [take_texts], FakeDeps()) as client:
        answer = await client.post("/notes", content=build_form(*parts), headers=headers)

    assert (answer.status_code, answer.json()) == (200, read)


async def test_a_form_is_its_json_and_its_file() -> None:
    assert await post(build_form(DATA, LOGO)) == (
        200,
        {"name": "Notes", "file": ["logo.png", "picture"]},
    )


async def test_a_form_without_a_file_has_none() -> None:
    assert await post(build_form(DATA)) == (200, {"name": "Notes", "file": None})


async def test_the_same_route_takes_json() -> None:
    answer = await post(b'{"name": "Notes"}', "application/json")

    assert answer == (200, {"name": "Notes", "file": None})


async def test_other_fields_and_charsets_are_ignored() -> None:
    other = ("note", None, b"\xff\xfe")
    name = '{"name": "Müll"}'.encode()
    body = build_form(
        ("app_data", None, name), other, extra="Content-Type: text/x; charset=utf-7\r\n"
    )

    assert await post(body, f"{FORM_TYPE}; charset=punycode") == (
        200,
        {"name": "Müll", "file": None},
    )


@pytest.mark.parametrize(
    ("body", "status", "detail"),
    [
        (build_form(LOGO), 422, "The form has no field 'app_data'."),
        (build_form(("app_data", "a.json", b"{}")), 422, "The form has no field 'app_data'."),
        (build_form(("app_data", None, b"")), 400, "app_data is not valid JSON: it is empty"),
        (build_form(("app_data", None, b'{"name"')), 400, "The body is not valid JSON"),
        (build_form(("app_data", None, b"\xff")), 400, "The body is not valid JSON"),
        (build_form(("app_data", None, b"[]")), 422, "The request must be an object"),
        (build_form(DATA, ("file", "x", b"x" * 501)), 413, "file is over 500 bytes."),
        (build_form(("app_data", None, b" " * 101)), 422, "The form is refused: Part exceeded"),
        (build_form(DATA, LOGO, LOGO), 422, "The form is refused: Too many files"),
        (build_form(DATA, *[("x", None, b"")] * MAX_FIELDS), 422, "The form is refused: Too many"),
        (build_form(DATA, LOGO, end=b""), 400, "The form ends before its last boundary."),
        (b"", 400, "The form ends before its last boundary."),
        (b"nothing of the kind", 422, "The form is refused: Invalid multipart data."),
        (b"--b\r\nno header\r\n\r\nx\r\n--b--\r\n", 422, "The form is refused:"),
    ],
)
async def test_a_form_that_cannot_be_read_is_refused(body: bytes, status: int, detail: str) -> None:
    answer = await post(body)

    assert (answer[0], answer[1]["detail"][: len(detail)]) == (status, detail)


@pytest.mark.parametrize("boundary", ["", "; boundary=", "; boundary=" + "x" * 71])
async def test_a_form_without_a_usable_boundary_is_refused(boundary: str) -> None:
    answer = await post(build_form(DATA), f"multipart/form-data{boundary}")

    assert (answer[0], answer[1]["detail"]) == (400, "The form has no boundary.")


async def test_a_form_that_declares_too_many_bytes_is_413_unread_s4() -> None:
    sender, headers = send([b""], content_length=str(20_000_000))

    status = await sender.post(build(take_form), take_form, **headers)

    assert (status, sender.read_count) == (413, 0)
    assert sender.answer["detail"] == f"The form is over {describe_bytes(MAX_BYTES)}."


async def test_a_form_without_a_declared_length_is_counted_while_it_is_read_s4() -> None:
    start = build_form(DATA, LOGO, end=b"")[:-2]
    sender, headers = send([start, *[b"x" * 6_000] * 1_000])

    status = await sender.post(build(take_form), take_form, **headers)

    assert (status, sender.read_count) == (413, 4)


async def test_a_form_is_not_read_without_credentials_s4() -> None:
    sender, headers = send([build_form(DATA)])

    status = await sender.post(build(take_own_form), take_own_form, **headers)

    assert (status, sender.read_count) == (401, 0)


async def test_json_routes_take_no_forms() -> None:
    @route("POST", "/texts", "Take JSON", access="anyone")
    async def take_json(_: FakeDeps, call: Call[dict[str, str]]) -> dict[str, str]:
        return dict(call.body)

    async with open_client("shop", [take_json], FakeDeps()) as client:
        answer = await client.post("/texts", files={"app_data": (None, json.dumps({}))})

    assert answer.status_code == 415


def build(row: Any) -> Any:
    return build_application("shop", [row], FakeDeps())
