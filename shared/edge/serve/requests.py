"""Requests: authentication and authorization, then validation of headers, query and body.

What does not pass raises RequestRejected, which holds the problem to answer with, or an error of
ours. No problem repeats what was sent.

Also called: bearer token, request validation.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.requests import Request

from shared import telemetry
from shared.domain.ids import UserId
from shared.edge.declare.bearer_tokens import parse_bearer_token
from shared.edge.declare.problems import RequestRejected, build_problem
from shared.edge.declare.routes import Call, Route
from shared.edge.serve.bodies import build_validation_problem, parse_json, read_body, read_query

if TYPE_CHECKING:
    from shared.ports import Clock, Identity, ServiceIdentity

MAX_AGE_S = 300
MAX_SHOWN_SKEW_S = 1e9


class AuthDeps(Protocol):
    """The part of every function's Deps that verifies callers."""

    @property
    def identity(self) -> "Identity": ...

    @property
    def service_identity(self) -> "ServiceIdentity": ...

    @property
    def clock(self) -> "Clock": ...


async def parse_call(
    function: str, row: Route[Any], deps: AuthDeps, request: Request
) -> Call[Any, Any, Any]:
    """Verify the caller, then read and validate what the route takes. The body is read last."""
    if row.access != "service":
        _check_age(request.headers, deps.clock)
    uid = await _authenticate(function, row, deps, request)
    call: Call[Any, Any, Any] = Call(
        request_line=f"{request.method} {request.url.path}",
        uid=uid,
        body=None,
        path=request.path_params,
        query=request.query_params,
        headers=request.headers,
        caller=None,
    )
    if row.authorize is not None:
        call = replace(call, caller=await row.authorize(deps, call))
    call = replace(call, query=_parse_query(row, request))
    _check_headers(row, request)
    if row.form is not None:
        from shared.edge.serve.forms import is_form, receive_form

        if is_form(request):
            form = await receive_form(row.form, request, deps.clock, max_json_bytes=row.max_bytes)
            return replace(call, body=parse_json(row, request, form.json_text), files=form.files)
    return replace(call, body=await read_body(row, request, deps.clock))


def _check_age(headers: Headers, clock: "Clock") -> None:
    """Refuse what the app sent over MAX_AGE_S ago: it may have been sent again since.

    The app also reads from the answer how far its clock is off. A header that is no number says
    nothing.
    """
    try:
        sent_at_s = float(headers.get("x-request-start-time", ""))
    except ValueError:
        return
    age_s = clock.now().timestamp() - sent_at_s
    if age_s > MAX_AGE_S:
        raise RequestRejected(
            build_problem(
                408,
                "Request is too old and has been rejected.",
                error="clock_skew",
                skew_seconds=round(min(age_s, MAX_SHOWN_SKEW_S)),
            )
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


def _check_headers(row: Route[Any], request: Request) -> None:
    if row.headers is None:
        return
    names = [field.alias for field in row.headers.model_fields.values() if field.alias]
    header_values = {name: request.headers[name] for name in names if name in request.headers}
    try:
        row.headers.model_validate(header_values)
    except ValidationError as error:
        raise RequestRejected(build_validation_problem(error, 400)) from error


def _parse_query(row: Route[Any], request: Request) -> Any:
    if row.query is None:
        return None
    try:
        return row.query.model_validate(read_query(row.query, request.query_params))
    except ValidationError as error:
        raise RequestRejected(build_validation_problem(error)) from error
