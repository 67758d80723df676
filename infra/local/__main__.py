"""Local server, `make run`: the whole product on one origin, without a cloud.

This process plays the platform: it gives the functions their environment and loads them from their
sources; what they share are the files below DATA_DIR.
"""

import asyncio
import errno
import os
import signal
import socket
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import partial
from urllib.parse import quote

import uvicorn
from starlette.types import ASGIApp

from infra.local.accounts_endpoint import AccountsEndpoint
from infra.local.attempts import AttemptLimits
from infra.local.deliver_jobs import open_queue_worker
from infra.local.every_minute import sweep_every_minute
from infra.local.gateway import build_internal_app, build_public_app, list_served_hosts
from infra.local.head_timeout import HEAD_TIMEOUT_S, TimelyProtocol
from infra.local.local_key import LocalKey, LocalKeyCheck, open_local_key
from infra.local.local_model import build_environment, run_local_model, watch_local_model
from infra.local.local_speech import prepare_speech
from infra.local.meanings import Meanings
from infra.local.model_endpoint import ModelEndpoint
from infra.local.model_watch import ModelWatch, find_models_in_use
from infra.local.ollama import list_ollama_models
from infra.local.passwords import PasswordCheck, prepare_accounts
from infra.local.routing import load_entry_points
from infra.local.search_endpoint import SearchEndpoint
from infra.local.second_worker import run_second_worker_when_busy
from infra.local.terminal_log import TerminalFormatter
from infra.local.token_endpoint import TokenEndpoint
from infra.model_server.server import ModelServer
from shared import model_wiring, telemetry, wiring
from shared.adapters.embedded.known_models_file import KnownModelsFile
from shared.adapters.embedded.local_identity import LocalIdentity, read_secret
from shared.adapters.embedded.model_file import ModelFile
from shared.adapters.embedded.offline.offline_model import MODEL_NAME as OFFLINE_MODEL_NAME
from shared.adapters.embedded.password_file import PasswordFile
from shared.adapters.embedded.sqlite_database import DatabaseUnusable
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.domain.errors import Unavailable
from shared.domain.local_address import is_loopback
from shared.models.known_models import KnownModels
from shared.security.egress_rules import EgressRules
from shared.settings import Settings, SettingsError

GRACE_S = 6
"""How long answers may continue after Ctrl-C or SIGTERM; then they are stored as they are."""

MAX_HEAD_BYTES = 131_072
"""The longest request line: above every query that a route accepts, escaped."""

MAX_MESSAGE_BYTES = 1_048_576
"""Of a socket: above a photo's chunk and every frame of sound."""
PONG_TIMEOUT_S = 300.0
"""No pong is read while sound waits for a slow transcriber."""


EXAMPLE_ORIGIN = "http://127.0.0.1:9000"
"""Where `make example` and developers' first apps serve: allowed without a question, where only this machine can ask."""


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
        key, made_password = _prepare_sign_in(settings)
        front = _open_public_port(settings)
        back = listen("127.0.0.1", 0)
        _set_environment(settings, back)
        if settings.runs_speech:
            os.environ.update(prepare_speech(settings))
        with _run_model(settings) as server:
            asyncio.run(_serve(Settings.from_env(), key, made_password, front, back, server))
    except (DatabaseUnusable, SettingsError, Unavailable) as error:
        print(f"keepsake: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return 0


def _check_settings(settings: Settings) -> None:
    """Check now what the functions need at their first request. Raises SettingsError."""
    if settings.world == "cloud":
        raise SettingsError(
            "KEEPSAKE_WORLD=cloud: this serves the embedded world alone; make cloud-local runs the "
            "functions of the cloud on this machine, make deploy brings them to Google Cloud"
        )
    try:
        EgressRules(dev_origins=settings.egress_dev_origins)
    except ValueError as error:
        raise SettingsError(f"EGRESS_DEV_ORIGINS: {error}") from error
    if settings.model_to_run and settings.openai_api_key:
        raise SettingsError(
            f"MODEL={settings.model_to_run}: OPENAI_API_KEY sets another model: unset one of them"
        )
    if settings.runs_speech and (settings.transcription_base_url or settings.transcription_api_key):
        raise SettingsError(
            "SPEECH=local: TRANSCRIPTION_BASE_URL or TRANSCRIPTION_API_KEY names another server: unset one of them"
        )
    if settings.web_search and "perplexity" not in settings.oauth_clients:
        raise SettingsError("WEB_SEARCH=perplexity: PERPLEXITY_API_KEY is missing")


def _prepare_sign_in(settings: Settings) -> tuple[LocalKey, str | None]:
    """Make the secrets of the data folder, or read them; returns a password made just now.

    Raises SettingsError.
    """
    try:
        read_secret(settings.data_dir)
        key = open_local_key(settings)
        if not settings.allow_remote:
            return key, None
        return key, prepare_accounts(settings, PasswordFile(settings.data_dir), wiring.clock())
    except OSError as error:
        raise SettingsError(f"{error.filename}: {error.strerror}") from error


def _open_public_port(settings: Settings) -> socket.socket:
    """Open the public port. Raises SettingsError that says what to do."""
    if not is_loopback(settings.host) and not settings.allow_remote:
        raise SettingsError(
            f"HOST={settings.host} is reachable from outside, where only a password "
            "protects your data: set ALLOW_REMOTE=1 if you mean it"
        )
    try:
        return listen(settings.host, settings.port)
    except OSError as error:
        if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            raise SettingsError(f"HOST={settings.host} is no address of this machine") from error
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
    own = [f"http://{host}:{settings.port}" for host in list_served_hosts(settings)]
    os.environ["TOOL_PROXY_URL"] = f"{_to_url(back)}/tool_proxy/"
    os.environ["OWN_ORIGINS"] = ",".join([*own, settings.public_url, _to_url(back)])
    if settings.serves_this_machine_alone:
        os.environ.setdefault("EGRESS_DEV_ORIGINS", EXAMPLE_ORIGIN)


@contextmanager
def _run_model(settings: Settings) -> Generator[ModelServer | None, None, None]:
    """Run the model that MODEL names, if there is one, and have the functions ask it. Raises SettingsError."""
    if settings.model_to_run is None:
        yield None
        return
    with run_local_model(settings, settings.model_to_run) as server:
        os.environ.update(build_environment(server))
        yield server


def _to_url(listener: socket.socket) -> str:
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


async def _serve(
    settings: Settings,
    key: LocalKey,
    made_password: str | None,
    front: socket.socket,
    back: socket.socket,
    model_server: ModelServer | None,
) -> None:
    """Run both servers and the queue worker; on a signal stop them in the order of their needs."""
    telemetry.configure(formatter=TerminalFormatter() if sys.stdout.isatty() else None)
    functions = load_entry_points()
    limits = AttemptLimits(wiring.clock()) if settings.allow_remote else None
    key_check = LocalKeyCheck(key, limits)
    file = PasswordFile(settings.data_dir)
    passwords = PasswordCheck(file, limits) if limits else None
    tokens = TokenEndpoint(LocalIdentity(read_secret(settings.data_dir)), key_check, passwords)
    accounts = (
        AccountsEndpoint(settings, file, passwords, wiring.identity(), wiring.clock())
        if passwords
        else None
    )
    model_file = ModelFile(settings.data_dir)
    models = ModelEndpoint(settings, model_file, key_check)
    vectors = SqliteVectors(wiring.queue().database)
    encoder = model_wiring.local_embedder()
    meanings = Meanings(settings.embedder, encoder, vectors, wiring.clock(), _say)
    search = SearchEndpoint(wiring.identity(), vectors, meanings)
    outer = _build_server(
        build_public_app(
            functions, tokens, models, search, accounts=accounts, hosts=list_served_hosts(settings)
        ),
        trusted_proxies=settings.trusted_proxies,
    )
    internal_app = build_internal_app(functions)
    inner = _build_server(internal_app)
    _stop_on_signal(outer)
    await wiring.queue().recover()
    async with open_queue_worker(settings, internal_app) as worker, asyncio.TaskGroup() as tasks:
        tasks.create_task(inner.serve([back]))
        background = [
            tasks.create_task(work)
            for work in (
                worker.run(),
                run_second_worker_when_busy(wiring.queue()),
                sweep_every_minute(wiring.tasks(), wiring.clock()),
                _build_watch(settings, model_file).run(),
                watch_local_model(model_server) if model_server else _offer_ollama(),
                meanings.run(),
            )
        ]
        _print_greeting(settings, key, made_password)
        await outer.serve([front])
        for task in background:
            task.cancel()
        inner.should_exit = True
    print("keepsake: stopped; everything is stored", flush=True)


def _build_watch(settings: Settings, file: ModelFile) -> ModelWatch:
    return ModelWatch(
        partial(find_models_in_use, settings, file),
        KnownModels(KnownModelsFile(settings.data_dir)),
        wiring.clock(),
        _say,
    )


def _say(line: str) -> None:
    print(f"keepsake: {line}", flush=True)


async def _offer_ollama() -> None:
    """Name the models of Ollama on this machine, where no other model is set."""
    if model_wiring.model().name("agent") == OFFLINE_MODEL_NAME:
        names = await list_ollama_models()
        if names:
            print(
                f"keepsake: Ollama runs here with {', '.join(names)}: choose a model under "
                "Your account → Model",
                flush=True,
            )


def _build_server(
    app: ASGIApp, *, trusted_proxies: Sequence[str] = (), head_timeout_s: float = HEAD_TIMEOUT_S
) -> _NoSignalServer:
    return _NoSignalServer(
        uvicorn.Config(
            app,
            http=type("Protocol", (TimelyProtocol,), {"head_timeout_s": head_timeout_s}),
            ws="websockets-sansio",
            ws_max_size=MAX_MESSAGE_BYTES,
            ws_ping_timeout=PONG_TIMEOUT_S,
            ws_per_message_deflate=False,  # sound is compressed already
            lifespan="off",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=bool(trusted_proxies),  # from others, a caller could choose its address
            forwarded_allow_ips=list(trusted_proxies),
            timeout_graceful_shutdown=GRACE_S,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        )
    )


def _stop_on_signal(server: uvicorn.Server) -> None:
    """Stop on the first signal, at once on the second."""

    def stop() -> None:
        server.force_exit = server.should_exit
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop)


def _print_greeting(settings: Settings, key: LocalKey, made_password: str | None) -> None:
    model = model_wiring.model().name("agent")
    print(
        f"keepsake: {_build_address(settings, key)} · data in {settings.data_dir} · "
        f"model {model} · stop with Ctrl-C",
        flush=True,
    )
    if made_password:
        print(
            f"keepsake: sign in as {settings.user} with the password {made_password} · shown this "
            f"once, change it with make users SET={settings.user}",
            flush=True,
        )
    if model == OFFLINE_MODEL_NAME:
        print(
            "keepsake: no model is set (OPENAI_API_KEY, or Your account → Model), so the offline model quotes your conversations instead "
            "of writing answers",
            flush=True,
        )


def _build_address(settings: Settings, key: LocalKey) -> str:
    """Build the console's address; its fragment, which no browser sends, has the key."""
    if settings.allow_remote:
        return settings.public_url
    return f"http://{settings.host}:{settings.port}/#key={quote(key.secret, safe='')}"


if __name__ == "__main__":
    sys.exit(main())
