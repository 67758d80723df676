"""Local gateway: one origin for every public function, the console and its sign-in."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from functions_framework.aio import create_asgi_app
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from infra.local.accounts_endpoint import AccountsEndpoint
from infra.local.console_files import add_headers, build_console, send_api_document
from infra.local.model_endpoint import ModelEndpoint
from infra.local.routing import EntryPoint, to_starlette_path
from infra.local.search_endpoint import SearchEndpoint
from infra.local.token_endpoint import TokenEndpoint
from shared.domain.local_address import is_loopback
from shared.edge.declare.entry_points import load_place
from shared.edge.declare.problems import build_problem
from shared.edge.serve.http import handle_http_exception
from shared.settings import Settings

SECURITY_HEADERS = (
    (
        b"content-security-policy",
        (
            b"default-src 'self'; media-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; "
            b"form-action 'self'"
        ),
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
)


def build_public_app(
    functions: Sequence[EntryPoint],
    tokens: TokenEndpoint,
    models: ModelEndpoint | None = None,
    search: SearchEndpoint | None = None,
    *,
    accounts: AccountsEndpoint | None = None,
    hosts: Sequence[str],
) -> ASGIApp:
    """Serve every public path of infra/routes.json on one origin, with the console."""
    routes: list[Any] = [
        Route("/local/token", tokens.issue, methods=["POST"]),
        Route("/config.json", tokens.describe_sign_in),
        Route("/healthz", _report_health),
    ]
    if models:
        routes += [
            Route("/local/model", models.handle, methods=["GET", "PUT", "DELETE"]),
            Route("/local/model/names", models.list_names, methods=["POST"]),
        ]
    if accounts:
        routes += [
            Route("/local/password", accounts.change_password, methods=["POST"]),
            Route("/local/accounts", accounts.handle_accounts, methods=["GET", "POST"]),
        ]
    if search:
        routes.append(Route("/local/search", search.describe))
    for function in functions:
        if function.access == "public":
            app = load_entry_point(function)
            place = WebSocketRoute if function.carries_sockets else Route
            routes += [place(to_starlette_path(path), app) for path in function.paths]
    routes.append(Route("/openapi.json", send_api_document))
    app = Starlette(routes=routes, exception_handlers={HTTPException: handle_http_exception})
    app.router.redirect_slashes = False
    # A route would also take the other methods of those above.
    app.router.default = build_console()
    return GuardedHost(app, hosts=hosts)


def build_internal_app(functions: Sequence[EntryPoint]) -> ASGIApp:
    """Serve internal entry points at `/<name>`, where only functions reach them."""
    inner = [function for function in functions if function.access == "internal"]
    return Starlette(
        routes=[Mount(f"/{function.name}", load_entry_point(function)) for function in inner]
    )


def load_entry_point(function: EntryPoint) -> ASGIApp:
    """Load an entry point exactly as the platform does: from its source file, by its name."""
    if function.carries_sockets:
        served: ASGIApp = load_place(function.application)
        return served
    app: ASGIApp = create_asgi_app(function.name, str(function.source), "http")
    return app


async def _report_health(_: Request) -> Response:
    return JSONResponse({"status": "ok", "function": "gateway"})


UNKNOWN_HOST = (
    "This host name is not served here. Where others reach the server, PUBLIC_URL names the address "
    "that they open."
)


class GuardedHost:
    """Refuses foreign Host headers, against DNS rebinding."""

    def __init__(self, app: ASGIApp, *, hosts: Sequence[str]) -> None:
        self._app = app
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if _read_host(scope) not in self._hosts:
            await build_problem(421, UNKNOWN_HOST)(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        await self._app(scope, receive, add_headers(send, SECURITY_HEADERS))


def _read_host(scope: Scope) -> str:
    return _drop_port(dict(scope["headers"]).get(b"host", b"").decode("latin-1"))


def _drop_port(host: str) -> str:
    return host if host.endswith("]") else host.rsplit(":", 1)[0].lower()


def list_served_hosts(settings: Settings) -> list[str]:
    """List the host names by which the server may be asked."""
    hosts = ["127.0.0.1", "localhost", "[::1]"]
    if not is_loopback(settings.host):
        hosts.append(settings.host)
    if settings.allow_remote:
        hosts.append(urlsplit(settings.public_url).netloc.rpartition("@")[2])
    return [_drop_port(host) for host in hosts]
