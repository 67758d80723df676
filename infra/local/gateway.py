"""Local gateway: one origin for every public function, the console and development tokens."""

from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any

from functions_framework.aio import create_asgi_app
from pydantic import BaseModel, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from infra.local.local_key import HEADER, LocalKeyCheck
from infra.local.routing import ROOT, EntryPoint, to_starlette_path
from shared.adapters.embedded.local_identity import LocalIdentity
from shared.domain.errors import Invalid, NotAuthenticated, TooMany
from shared.domain.ids import UserId
from shared.edge.http import handle_http_exception
from shared.edge.problems import build_problem, to_problem

SECURITY_HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)

MAX_TOKEN_REQUEST_BYTES = 1_024


class TokenRequest(BaseModel):
    """The user to sign in as, in the embedded world."""

    uid: str


def build_public_app(
    functions: Sequence[EntryPoint],
    identity: LocalIdentity,
    key_check: LocalKeyCheck,
    *,
    hosts: Sequence[str],
) -> ASGIApp:
    """Serve every public path of infra/routes.json on one origin, with the console."""
    routes: list[Any] = [
        Route("/local/token", _build_token_endpoint(identity, key_check), methods=["POST"]),
        Route("/healthz", _report_health),
    ]
    for function in functions:
        if function.access == "public":
            app = load_entry_point(function)
            routes += [Route(to_starlette_path(path), app) for path in function.paths]
    routes.append(Mount("/", StaticFiles(directory=ROOT / "web", html=True)))
    app = Starlette(routes=routes, exception_handlers={HTTPException: handle_http_exception})
    return GuardedHost(app, hosts=hosts)


def build_internal_app(functions: Sequence[EntryPoint]) -> ASGIApp:
    """Serve internal entry points at `/<name>`, where only functions reach them."""
    inner = [function for function in functions if function.access == "internal"]
    return Starlette(
        routes=[Mount(f"/{function.name}", load_entry_point(function)) for function in inner]
    )


def load_entry_point(function: EntryPoint) -> ASGIApp:
    """Load an entry point exactly as the platform does: from its source file, by its name."""
    app: ASGIApp = create_asgi_app(function.name, str(function.source), "http")
    return app


def _build_token_endpoint(identity: LocalIdentity, key_check: LocalKeyCheck) -> Any:
    async def issue_token(request: Request) -> Response:
        try:
            key_check.check(request.headers.get(HEADER, ""), _read_address(request))
        except (NotAuthenticated, TooMany) as error:
            return to_problem(error)
        length = request.headers.get("content-length", "")
        if not length.isdigit() or int(length) > MAX_TOKEN_REQUEST_BYTES:
            return build_problem(413, "A request for a token is small, and says how long it is.")
        try:
            token_request = TokenRequest.model_validate_json(await request.body())
            return JSONResponse({"token": identity.issue(UserId(token_request.uid))})
        except (ValidationError, Invalid):
            return build_problem(422, 'Send {"uid": "…"}: 1 to 64 of A-Z a-z 0-9 _ -')

    return issue_token


def _read_address(request: Request) -> str:
    return request.client.host if request.client else ""


async def _report_health(_: Request) -> Response:
    return JSONResponse({"status": "ok", "function": "gateway"})


class GuardedHost:
    """Refuses foreign Host headers, against DNS rebinding."""

    def __init__(self, app: ASGIApp, *, hosts: Sequence[str]) -> None:
        self._app = app
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if _read_host(scope) not in self._hosts:
            await build_problem(421, "This host name is not served here.")(scope, receive, send)
            return
        await self._app(scope, receive, _add_security_headers(send))


def _read_host(scope: Scope) -> str:
    value: str = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
    return value.rsplit(":", 1)[0] if not value.endswith("]") else value


def _add_security_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *SECURITY_HEADERS]
        await send(message)

    return send_with_headers


def list_served_hosts(host: str) -> list[str]:
    """List the Host headers of a listening address."""
    loopback = ["127.0.0.1", "localhost", "[::1]"]
    return loopback if is_loopback(host) else [*loopback, host]


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
