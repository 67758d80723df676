"""Requests: authentication, then validation of headers, query and body.

What does not pass raises RequestRejected, which holds the problem to answer with, or an error of
ours. No problem repeats what was sent.
"""

from typing import Any, Protocol, get_origin

from pydantic import ValidationError
from starlette.datastructures import Headers, QueryParams
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from shared import telemetry
from shared.data.codec import type_adapter
from shared.domain.errors import NotAuthenticated
from shared.domain.ids import UserId
from shared.edge.problems import build_problem
from shared.edge.routes import Call, Route
from shared.edge.schemas import Wire
from shared.ports import Identity, ServiceIdentity

MAX_SHOWN_ERRORS = 20


class AuthDeps(Protocol):
    """The part of every function's Deps that verifies callers."""

    @property
    def identity(self) -> Identity: ...

    @property
    def service_identity(self) -> ServiceIdentity: ...


class RequestRejected(Exception):
    """A request that no handler sees; `response` says why."""

    def __init__(self, response: Response) -> None:
        self.response = response


async def parse_call(
    function: str, row: Route[Any], deps: AuthDeps, request: Request
) -> Call[Any, Any]:
    """Verify the caller, then read and validate what the route takes. The body is read last."""
    uid = await _authenticate(function, row, deps, request)
    _check_headers(row, request)
    query = _parse_query(row, request)
    raw = await _read_body(request, row.max_bytes) if row.body is not None else b""
    return Call(
        request_line=f"{request.method} {request.url.path}",
        uid=uid,
        body=_parse_body(row, request, raw),
        path=request.path_params,
        query=query,
        headers=request.headers,
    )


async def _authenticate(function: str, row: Route[Any], deps: AuthDeps, request: Request) -> UserId:
    """Verify who calls. A service token is for one function: its audience is the name."""
    if row.access == "anyone":
        return UserId("")
    token = parse_bearer_token(request.headers)
    if row.access == "service":
        await deps.service_identity.verify(token, function)
        return UserId("")
    uid = (await deps.identity.verify(token, check=row.check)).uid
    telemetry.add_fields(uid=telemetry.hash_id(uid))
    return uid


def parse_bearer_token(headers: Headers) -> str:
    """Return the bearer token. Raises NotAuthenticated with the texts the app knows."""
    header = headers.get("authorization")
    if not header:
        raise NotAuthenticated("Authorization header not found")
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token or " " in token:
        raise NotAuthenticated("Invalid authorization token")
    return token


async def _read_body(request: Request, max_bytes: int) -> bytes:
    """Read a body no further than its limit."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > max_bytes:
                raise RequestRejected(
                    build_problem(413, f"The request body is over {max_bytes} bytes.")
                )
    except ClientDisconnect as disconnect:
        raise RequestRejected(build_problem(400, "The request body ended early.")) from disconnect
    return bytes(body)


def _parse_body(row: Route[Any], request: Request, raw: bytes) -> Any:
    if row.body is None:
        return None
    if row.body is bytes:
        return raw
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        raise RequestRejected(build_problem(415, "Send the body as application/json."))
    try:
        return type_adapter(row.body).validate_json(raw)
    except ValidationError as error:
        raise RequestRejected(_build_validation_problem(error)) from error


def _check_headers(row: Route[Any], request: Request) -> None:
    if row.headers is None:
        return
    names = [field.alias for field in row.headers.model_fields.values() if field.alias]
    header_values = {name: request.headers[name] for name in names if name in request.headers}
    try:
        row.headers.model_validate(header_values)
    except ValidationError as error:
        raise RequestRejected(_build_validation_problem(error, 400)) from error


def _parse_query(row: Route[Any], request: Request) -> Any:
    if row.query is None:
        return None
    try:
        return row.query.model_validate(_read_query(row.query, request.query_params))
    except ValidationError as error:
        raise RequestRejected(_build_validation_problem(error)) from error


def _read_query(model: type[Wire], params: QueryParams) -> dict[str, Any]:
    """Read a parameter that may stand several times as a list, and the last of any other."""
    kinds = {name: get_origin(field.annotation) for name, field in model.model_fields.items()}
    lists = [name for name, kind in kinds.items() if kind in (list, tuple)]
    return {**params, **{name: params.getlist(name) for name in lists if name in params}}


def _build_validation_problem(error: ValidationError, status: int = 422) -> Response:
    """Say what is wrong and where, without repeating what was sent."""
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    if errors[0]["type"] == "json_invalid":
        return build_problem(400, f"The body is not valid JSON: {errors[0]['msg']}")
    details = [
        {"loc": ".".join(map(str, e["loc"])), "msg": e["msg"]} for e in errors[:MAX_SHOWN_ERRORS]
    ]
    first = f"{details[0]['loc']}: {details[0]['msg']}" if details[0]["loc"] else details[0]["msg"]
    return build_problem(413 if errors[0]["type"] == "too_long" else status, first, errors=details)
