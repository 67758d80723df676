"""Tokens: programs register, exchange a code, refresh and revoke. Errors are those of OAuth (RFC 6749).

The official SDK has such endpoints, which read a token and replace it in two steps; here it is one.

Also called: token endpoint, revocation endpoint.
"""

from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import parse_qsl

from pydantic import ValidationError
from starlette.responses import JSONResponse, Response

from functions.library.programs.challenges import is_our_resource, write_scope
from functions.library.programs.oauth.deps import ProgramDeps
from functions.library.programs.oauth.schemas import (
    RegistrationIn,
    RegistrationOut,
    TokenIn,
    TokenOut,
)
from shared import telemetry
from shared.domain.account.connected_program import (
    ACCESS_LIFETIME,
    IDLE_LIFETIME,
    CodeProof,
    ConnectedProgram,
    IssuedTokens,
    ProgramSecret,
    derive_secret,
    parse_secret,
)
from shared.domain.errors import NotAuthenticated
from shared.edge.declare.problems import RequestRejected
from shared.edge.declare.routes import Call, route
from shared.edge.declare.validation_sentences import format_validation_error

MAX_FORM_BYTES: Final = 32_768
MAX_FORM_FIELDS: Final = 30
ACCESS_LIFETIME_S: Final = int(ACCESS_LIFETIME.total_seconds())


@route(
    "POST",
    "/v1/mcp/register",
    "Register a program that is not known by an address of its own",
    access="anyone",
    status=201,
    errors=(400, 413),
    protocol_errors=(400,),
)
async def register_program(deps: ProgramDeps, call: Call[bytes]) -> RegistrationOut:
    try:
        asked = RegistrationIn.model_validate_json(call.body)
    except ValidationError as error:
        is_address = any("redirect_uris" in each["loc"] for each in error.errors())
        code = "invalid_redirect_uri" if is_address else "invalid_client_metadata"
        raise _refuse(code, format_validation_error(error)) from error
    now = deps.clock.now()
    return RegistrationOut(
        client_id=deps.registrations.issue(asked.client_name, asked.redirect_uris, now),
        client_id_issued_at=int(now.timestamp()),
        client_name=asked.client_name,
        redirect_uris=asked.redirect_uris,
        grant_types=list(_EXCHANGES),
        response_types=["code"],
        token_endpoint_auth_method="none",  # noqa: S106 - the name of a method
    )


@route(
    "POST",
    "/v1/mcp/token",
    "Exchange a program's code or refresh token for tokens",
    access="anyone",
    errors=(400, 413),
    protocol_errors=(400,),
    max_bytes=MAX_FORM_BYTES,
)
async def issue_tokens(deps: ProgramDeps, call: Call[bytes]) -> TokenOut:
    form = _parse_form(call.body)
    exchange = _EXCHANGES.get(form.grant_type)
    if exchange is None:
        raise _refuse("unsupported_grant_type", "There are authorization_code and refresh_token.")
    if not is_our_resource(form.resource, deps.public_url):
        raise _refuse("invalid_target", "These tokens are for another server.")
    try:
        return await exchange(deps, form)
    except NotAuthenticated as error:
        raise _refuse("invalid_grant", str(error)) from error


async def _exchange_code(deps: ProgramDeps, form: TokenIn) -> TokenOut:
    code = parse_secret(form.code, "code")
    proof = CodeProof(
        client_id=form.client_id, redirect_uri=form.redirect_uri, verifier=form.code_verifier
    )
    tokens = _create_tokens(deps, code)
    now, programs = deps.clock.now(), deps.stores.connected_programs
    return _to_token_out(tokens, await programs.exchange_code(code, proof, tokens, now))


async def _refresh(deps: ProgramDeps, form: TokenIn) -> TokenOut:
    token = parse_secret(form.refresh_token, "refresh")
    tokens = _create_tokens(deps, token)
    now, programs = deps.clock.now(), deps.stores.connected_programs
    return _to_token_out(tokens, await programs.refresh(token, form.client_id, tokens, now))


_EXCHANGES: dict[str, Callable[[ProgramDeps, TokenIn], Awaitable[TokenOut]]] = {
    "authorization_code": _exchange_code,
    "refresh_token": _refresh,
}


@route(
    "POST",
    "/v1/mcp/revoke",
    "End what a program got with a token",
    access="anyone",
    errors=(400, 413),
    protocol_errors=(400,),
    max_bytes=MAX_FORM_BYTES,
)
async def revoke_token(deps: ProgramDeps, call: Call[bytes]) -> None:
    """Answer alike whether or not there is such a token (RFC 7009); access and refresh token end together."""
    form = _parse_form(call.body)
    try:
        token = parse_secret(form.token, "access", "refresh")
    except NotAuthenticated:
        return
    await deps.stores.connected_programs.revoke(token, form.client_id)


def _parse_form(body: bytes) -> TokenIn:
    """Raises RequestRejected for a field that stands twice, or what is no form."""
    try:
        pairs = parse_qsl(body.decode("ascii"), max_num_fields=MAX_FORM_FIELDS)
        if len(dict(pairs)) < len(pairs):
            raise _refuse("invalid_request", "A field stands twice.")
        return TokenIn.model_validate(dict(pairs))
    except ValueError as error:
        raise _refuse(
            "invalid_request", "The body is not a form, or a field is too long."
        ) from error


def _create_tokens(deps: ProgramDeps, given: ProgramSecret) -> IssuedTokens:
    telemetry.add_fields(uid=telemetry.hash_id(given.uid))
    now = deps.clock.now()
    return IssuedTokens(
        access=derive_secret("access", given, deps.token_key),
        access_expires_at=now + ACCESS_LIFETIME,
        refresh=derive_secret("refresh", given, deps.token_key),
        refresh_expires_at=now + IDLE_LIFETIME,
    )


def _to_token_out(tokens: IssuedTokens, program: ConnectedProgram) -> TokenOut:
    return TokenOut(
        access_token=tokens.access.text,
        token_type="Bearer",  # noqa: S106 - the name of a type
        expires_in=ACCESS_LIFETIME_S,
        refresh_token=tokens.refresh.text,
        scope=write_scope(program.scope),
    )


def _refuse(error: str, description: str) -> RequestRejected:
    content = {"error": error, "error_description": description}
    answer: Response = JSONResponse(content, 400, headers={"Cache-Control": "no-store"})
    return RequestRejected(answer)


ROUTES = (register_program, issue_tokens, revoke_token)
