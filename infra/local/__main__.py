"""Local server, `make run`: the whole product in one process on one origin, without a cloud.

This process plays the platform: it gives the functions their environment and loads them from their
sources; what they share are the files below DATA_DIR.
"""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager
from urllib.parse import quote

import httpx
import uvicorn
from starlette.types import ASGIApp

from infra.local.gateway import build_internal_app, build_public_app, is_loopback, list_served_hosts
from infra.local.local_key import LocalKey, LocalKeyCheck, open_local_key
from infra.local.queue_worker import HttpDelivery, QueueWorker
from infra.local.routing import load_entry_points
from shared import telemetry, wiring
from shared.adapters.embedded.local_identity import LocalIdentity, read_secret
from shared.adapters.embedded.local_service_identity import LocalServiceIdentity
from shared.adapters.embedded.sqlite_database import LayoutMismatch
from shared.security.egress_rules import EgressRules
from shared.settings import Settings, SettingsError

GRACE_S = 6
"""How long answers may continue after Ctrl-C or SIGTERM; then they are stored as they are."""

MAX_HEAD_BYTES = 131_072
"""The longest request line: above every query that a route accepts, escaped."""


class _NoSignalServer(uvicorn.Server):
    """A server without signal handlers: two of them share this process."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def main() -> int:
    """Serve until stopped. Returns the exit code; prints an error in one line."""
    os.umask(0o077)  # whatever is written here is for this account alone
    try:
        settings = Settings.from_env()
        _check_settings(settings)
        key = _open_key(settings)
        front = _open_public_port(settings)
        back = listen("127.0.0.1", 0)
        _set_environment(settings, back)
        asyncio.run(_serve(settings, key, front, back))
    except (SettingsError, LayoutMismatch) as error:
        print(f"keepsake: {error}", file=sys.stderr)
        return 2
    return 0


def _check_settings(settings: Settings) -> None:
    """Check now what the functions need at their first request. Raises SettingsError."""
    try:
        EgressRules(dev_origins=settings.egress_dev_origins)
    except ValueError as error:
        raise SettingsError(f"EGRESS_DEV_ORIGINS: {error}") from error


def _open_key(settings: Settings) -> LocalKey:
    """Make the secrets of the data folder, or read them. Raises SettingsError."""
    try:
        read_secret(settings.data_dir)
        return open_local_key(settings)
    except OSError as error:
        raise SettingsError(f"DATA_DIR={settings.data_dir}: {error.strerror}") from error


def _open_public_port(settings: Settings) -> socket.socket:
    """Open the public port. Raises SettingsError that says what to do."""
    if not is_loopback(settings.host) and not settings.allow_remote:
        raise SettingsError(
            f"HOST={settings.host} is reachable from outside, where only a LOCAL_PASSWORD "
            "protects your data: set ALLOW_REMOTE=1 if you mean it"
        )
    try:
        return listen(settings.host, settings.port)
    except OSError as error:
        reason = str(error.strerror).partition(" (")[0]
        raise SettingsError(
            f"cannot listen on {settings.host}:{settings.port} ({reason}): stop what uses "
            "it, or choose another with PORT=8081 make run"
        ) from error


def listen(host: str, port: int) -> socket.socket:
    """Open a port whose connections send at once.

    asyncio sets this option only on sockets that it opened; without it, most answers wait 40 ms for
    the client's acknowledgement.
    """
    listener = socket.create_server((host, port), backlog=2_048)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _set_environment(settings: Settings, back: socket.socket) -> None:
    """Set the functions' own addresses, as the platform does."""
    own = [f"http://{host}:{settings.port}" for host in list_served_hosts(settings.host)]
    os.environ["TOOL_PROXY_URL"] = f"{_to_url(back)}/tool_proxy/"
    os.environ["OWN_ORIGINS"] = ",".join([*own, _to_url(back)])


def _to_url(listener: socket.socket) -> str:
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


async def _serve(
    settings: Settings, key: LocalKey, front: socket.socket, back: socket.socket
) -> None:
    """Run both servers and the queue worker; on a signal stop them in the order of their needs."""
    telemetry.configure()
    functions = load_entry_points()
    identity = LocalIdentity(read_secret(settings.data_dir))
    hosts = list_served_hosts(settings.host)
    key_check = LocalKeyCheck(key, wiring.clock())
    outer = _build_server(build_public_app(functions, identity, key_check, hosts=hosts))
    inner = _build_server(build_internal_app(functions))
    _stop_on_signal(outer)
    await wiring.queue().recover()
    async with httpx.AsyncClient() as client, asyncio.TaskGroup() as tasks:
        tasks.create_task(inner.serve([back]))
        worker = tasks.create_task(_build_queue_worker(settings, client, _to_url(back)).run())
        _print_greeting(settings, key)
        await outer.serve([front])
        worker.cancel()
        inner.should_exit = True
    print("keepsake: stopped; everything is stored", flush=True)


def _build_server(app: ASGIApp) -> _NoSignalServer:
    return _NoSignalServer(
        uvicorn.Config(
            app,
            lifespan="off",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,  # they would let a local process choose its address
            timeout_graceful_shutdown=GRACE_S,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        )
    )


def _build_queue_worker(settings: Settings, client: httpx.AsyncClient, base: str) -> QueueWorker:
    deliver = HttpDelivery(
        client,
        LocalServiceIdentity(
            read_secret(settings.data_dir), wiring.service_calls(), wiring.clock()
        ),
        url=lambda target: f"{base}/{target}/",
        project=settings.project,
    )
    return QueueWorker(wiring.queue(), deliver)


def _stop_on_signal(server: uvicorn.Server) -> None:
    """Stop on the first signal, at once on the second."""

    def stop() -> None:
        server.force_exit = server.should_exit
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop)


def _print_greeting(settings: Settings, key: LocalKey) -> None:
    model = wiring.model().name("agent")
    print(
        f"keepsake: {_build_address(settings, key)} · data in {settings.data_dir} · "
        f"model {model} · stop with Ctrl-C",
        flush=True,
    )
    if settings.openai_api_key is None:
        print(
            "keepsake: no OPENAI_API_KEY, so the offline model quotes your conversations instead "
            "of writing answers",
            flush=True,
        )


def _build_address(settings: Settings, key: LocalKey) -> str:
    """Build the console's address; its fragment, which no browser sends, has the key."""
    origin = f"http://{settings.host}:{settings.port}"
    return origin if key.is_password else f"{origin}/#key={quote(key.secret, safe='')}"


if __name__ == "__main__":
    sys.exit(main())
