"""Consent: a user sees which program asks for what, lets it in or not, and ends it later.

The console sends the request as it stood in the program's address, with its user's own token: no other
page can allow anything.

Also called: authorization endpoint, consent screen.
"""

import re
import secrets
from typing import Final

from functions.library.programs.challenges import SCOPES, get_resource, is_our_resource
from functions.library.programs.oauth.clients import load_client
from functions.library.programs.oauth.deps import ProgramDeps
from functions.library.programs.oauth.redirect_uris import (
    build_return_url,
    is_registered,
    read_host,
)
from functions.library.programs.oauth.registrations import ProgramClient
from functions.library.programs.oauth.schemas import (
    AuthorizationIn,
    AuthorizationOut,
    DecisionIn,
    DecisionOut,
    ProgramOut,
)
from shared.domain.account.api_key import KeyScope
from shared.domain.account.connected_program import (
    CODE_LIFETIME,
    ConnectedProgram,
    build_secret,
)
from shared.domain.errors import Invalid
from shared.domain.ids import UserId
from shared.domain.local_address import is_local_url
from shared.edge.declare.routes import Call, route

SECRET_BYTES: Final = 32
MAX_REQUEST_BYTES: Final = 131_072
_S256 = re.compile(r"[A-Za-z0-9_-]{43}")
_REFUSALS: Final = {
    "unsupported_response_type": "It asks for something else than a code.",
    "invalid_request": "It does not protect its code: PKCE with S256 is required.",
    "invalid_scope": "It asks for none of the rights that there are: read, write.",
    "invalid_target": "It asks for the library of another server.",
}


@route(
    "POST",
    "/v1/mcp/authorizations/preview",
    "Show which program asks for what",
    errors=(401, 422, 429),
    max_bytes=MAX_REQUEST_BYTES,
)
async def preview_authorization(deps: ProgramDeps, call: Call[AuthorizationIn]) -> AuthorizationOut:
    client, asked = await _load_client(deps, call.uid, call.body), call.body
    error = _find_error(deps, asked)
    return AuthorizationOut(
        name=client.name,
        host=read_host(asked.redirect_uri),
        is_local=is_local_url(asked.redirect_uri),
        document_host=client.document_host,
        scope=_read_scope(asked),
        refusal=_REFUSALS[error] if error else None,
        return_url=_build_return_url(deps, asked, error=error) if error else None,
    )


@route(
    "POST",
    "/v1/mcp/authorizations",
    "Let a program in, or refuse it",
    errors=(401, 409, 422, 429),
    check="revocation",
    max_bytes=MAX_REQUEST_BYTES,
)
async def decide_authorization(deps: ProgramDeps, call: Call[DecisionIn]) -> DecisionOut:
    asked, allows, now = call.body.request, call.body.allows, deps.clock.now()
    client = await _load_client(deps, call.uid, asked)
    error = _find_error(deps, asked) or ("access_denied" if allows == "nothing" else "")
    if error or allows == "nothing":
        return DecisionOut(return_url=_build_return_url(deps, asked, error=error))
    program_id = deps.new_id()
    code = build_secret("code", call.uid, program_id, secrets.token_urlsafe(SECRET_BYTES))
    program = ConnectedProgram(
        id=program_id,
        client_id=client.id,
        name=client.name,
        redirect_uri=asked.redirect_uri,
        scope="read" if allows == "read" else _read_scope(asked),
        resource=get_resource(deps.public_url),
        created_at=now,
        expires_at=now + CODE_LIFETIME,
        code_hash=code.hash,
        code_challenge=asked.code_challenge,
    )
    await deps.stores.connected_programs.connect(call.uid, program)
    return DecisionOut(return_url=_build_return_url(deps, asked, code=code.text))


@route("GET", "/v1/mcp/programs", "List connected programs, newest first", errors=(401,))
async def list_programs(deps: ProgramDeps, call: Call) -> list[ProgramOut]:
    programs = deps.stores.connected_programs
    return [
        ProgramOut(
            id=program.id,
            name=program.name,
            host=read_host(program.redirect_uri),
            is_local=is_local_url(program.redirect_uri),
            scope=program.scope,
            created_at=program.created_at,
            last_used_at=program.last_used_at,
            expires_at=program.expires_at,
        )
        for program in await programs.list_connected(call.uid, deps.clock.now())
    ]


@route(
    "DELETE",
    "/v1/mcp/programs/{program_id}",
    "Disconnect a program",
    status=204,
    errors=(401, 404),
)
async def disconnect_program(deps: ProgramDeps, call: Call) -> None:
    await deps.stores.connected_programs.delete(call.uid, call.path["program_id"])


async def _load_client(deps: ProgramDeps, uid: UserId, asked: AuthorizationIn) -> ProgramClient:
    """Return who asks. Raises Invalid for a foreign redirect address: nothing is sent there, not even a refusal."""
    client = await load_client(deps, uid, asked.client_id)
    if not is_registered(asked.redirect_uri, client.redirect_uris):
        raise Invalid("The program wants the answer at an address that it has not registered.")
    return client


def _find_error(deps: ProgramDeps, asked: AuthorizationIn) -> str:
    """Return the error of a request, as OAuth names it; empty if it can be allowed."""
    if asked.response_type != "code":
        return "unsupported_response_type"
    if asked.code_challenge_method != "S256" or not _S256.fullmatch(asked.code_challenge):
        return "invalid_request"
    if asked.scope and not set(asked.scope.split()) & set(SCOPES):
        return "invalid_scope"
    if not is_our_resource(asked.resource, deps.public_url):
        return "invalid_target"
    return ""


def _read_scope(asked: AuthorizationIn) -> KeyScope:
    return "write" if "write" in asked.scope.split() else "read"


def _build_return_url(deps: ProgramDeps, asked: AuthorizationIn, **fields: str) -> str:
    """Lead back to the program, with who answers (RFC 9207)."""
    answer = {**fields, "state": asked.state, "iss": deps.public_url}
    return build_return_url(asked.redirect_uri, answer)


ROUTES = (preview_authorization, decide_authorization, list_programs, disconnect_program)
