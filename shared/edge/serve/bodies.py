"""Request bodies: read and parsed within the limits of their route.

A body is refused by its declared length before any of it is read, and while it is read once it is
longer than that. What parsing costs is bounded by the number of JSON values: a body of empty maps
takes a hundred times its size in memory.

Also called: payload limit, body size.
"""

import re
from collections.abc import Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Literal, get_origin

from pydantic import ValidationError
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from shared.data.store.codec import type_adapter
from shared.domain.amounts import describe_bytes
from shared.edge.declare.problems import RequestRejected, build_problem
from shared.edge.declare.routes import Route
from shared.edge.declare.schemas import Wire
from shared.edge.declare.validation_sentences import build_sentence
from shared.edge.serve.body_pace import receive_in_time

if TYPE_CHECKING:
    from shared.ports import Clock

MAX_SHOWN_ERRORS = 20
MAX_JSON_VALUES = 250_000
"""More than the longest accepted conversation has; parsed, they take about 30 MB."""
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
"""A JSON string. One without an end reaches to the end of the body, so that no text is read twice."""


async def read_body(row: Route[Any], request: Request, clock: "Clock") -> Any:
    """Return the body as the type of the route. Raises RequestRejected.

    Call it when the caller is verified: nobody else's body is worth reading.
    """
    if row.body is None:
        return None
    if row.body is not bytes:
        if _is_left_out(row, request):
            return parse_json(row, request, b"{}")
        _check_media_type(request)
    body = await _receive(request, clock, row.max_bytes)
    return bytes(body) if row.body is bytes else parse_json(row, request, body)


def parse_json(row: Route[Any], request: Request, body: bytes | bytearray) -> Any:
    """Parse JSON text as the type of the route. Raises RequestRejected."""
    if _has_more_values(body, MAX_JSON_VALUES):
        raise RequestRejected(
            build_problem(413, f"The request body has over {MAX_JSON_VALUES} values.")
        )
    try:
        if row.is_query_accepted:
            return _validate_fields(row, request, type_adapter(dict[str, Any]).validate_json(body))
        return type_adapter(row.body).validate_json(body, extra=_choose_extra(row))
    except ValidationError as error:
        raise RequestRejected(build_validation_problem(error)) from error


def _choose_extra(row: Route[Any]) -> Literal["forbid"] | None:
    """Return how fields that the body does not know are read; None leaves it to the body's type."""
    return "forbid" if row.refuses_unknown_fields else None


def _is_left_out(row: Route[Any], request: Request) -> bool:
    """Tell whether a request has no body, and does not say that it has one: it may be in the query, or need none."""
    says_kind = "content-type" in request.headers and not row.is_query_accepted
    return not says_kind and not _has_content(request)


def _has_content(request: Request) -> bool:
    headers = request.headers
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def _validate_fields(row: Route[Any], request: Request, fields: Mapping[str, Any]) -> Any:
    """Validate a body's fields together with those of the query that it lacks.

    A query may hold more than the body knows: released apps add parameters.
    """
    known = {
        name: value
        for name, value in read_query(row.body, request.query_params).items()
        if name in row.body.model_fields
    }
    try:
        return row.body.model_validate({**known, **fields}, extra=_choose_extra(row))
    except ValidationError as error:
        raise RequestRejected(build_validation_problem(error)) from error


def read_query(model: type[Wire], params: QueryParams) -> dict[str, Any]:
    """Read a parameter that may stand several times as a list, and the last of any other."""
    kinds = {name: get_origin(field.annotation) for name, field in model.model_fields.items()}
    lists = [name for name, kind in kinds.items() if kind in (list, tuple)]
    return {**params, **{name: params.getlist(name) for name in lists if name in params}}


def _check_media_type(request: Request) -> None:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        raise RequestRejected(build_problem(415, "Send the body as application/json."))


async def _receive(request: Request, clock: "Clock", max_bytes: int) -> bytearray:
    """Receive a body no further than its limit."""
    declared_bytes = request.headers.get("content-length", "")
    _check_size(int(declared_bytes) if declared_bytes.isdecimal() else 0, max_bytes)
    body = bytearray()
    async with aclosing(receive_in_time(request, clock)) as chunks:
        async for chunk in chunks:
            body += chunk
            _check_size(len(body), max_bytes)
    return body


def _check_size(size_bytes: int, max_bytes: int) -> None:
    if size_bytes > max_bytes:
        raise RequestRejected(
            build_problem(413, f"The request body is over {describe_bytes(max_bytes)}.")
        )


def _has_more_values(body: bytes | bytearray, limit: int) -> bool:
    """Tell whether a JSON text has more values than this, without parsing it.

    Values follow a comma or an opening bracket. Strings are left out only where counting their
    commas too gives too many; each value has at most one string and one name.
    """
    if _count_values(body) <= limit:
        return False
    without_strings, string_count = _STRING.subn(b"", body, count=2 * limit + 1)
    return string_count > 2 * limit or _count_values(without_strings) > limit


def _count_values(body: bytes | bytearray) -> int:
    return 1 + sum(map(body.count, (b",", b"[", b"{")))


def build_validation_problem(error: ValidationError, status: int = 422) -> Response:
    """Say what is wrong and where, without repeating what was sent.

    `errors` lists more of it, each with the field as programs know it.
    """
    errors = error.errors(include_url=False)
    if errors[0]["type"] == "json_invalid":
        return build_problem(400, f"The body is not valid JSON: {errors[0]['ctx']['error']}.")
    details = [
        {"loc": ".".join(map(str, e["loc"])), "msg": build_sentence(e)}
        for e in errors[:MAX_SHOWN_ERRORS]
    ]
    is_too_large = errors[0]["type"] == "too_long"
    return build_problem(413 if is_too_large else status, details[0]["msg"], errors=details)
