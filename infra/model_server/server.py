"""Model server: llama.cpp's, started on loopback for this product alone, and ended with it.

A random key keeps others of this machine out, no page may read its answers, and it has no page of its own.
"""

import os
import re
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from infra.model_server.errors import CannotServeModel
from shared.domain.value import value

HOST = "127.0.0.1"
GUARD = Path(__file__).with_name("guard.py")
WINDOWS_TOKENS = (16_384, 8_192, 4_096)
"""Windows of a place, best first: a question takes about 6,000 tokens before anything is found."""
LAST_PORT = 65_535
STOP_TIMEOUT_S = 10.0
_POLL_S = 0.1
_TIMEOUT_S = 600.0
_MEMORY_SHARE = 0.75
_SAMPLE = "Count slowly, and name each number in words. " * 6
_SAMPLE_ANSWER_TOKENS = 8
_ERROR = re.compile(r"error|fail|invalid", re.IGNORECASE)
_CAUSE = "error loading model"
_LOG_PREFIX = re.compile(r"^[\d.]+ [A-Z] (?:\w+ +)?")


@value
class ServerOptions:
    """How a model is served: `places` questions at once, each in a window of its own.

    Without `threads` the server takes as many as there are cores. It listens on `port`, if that is free.
    """

    window_tokens: int
    places: int = 2
    threads: int | None = None
    port: int = 0


@value
class Speed:
    """Tokens a second, as a short question was read and its answer written."""

    read: float
    written: float


@value
class ModelServer:
    """A server that has loaded its model."""

    origin: str
    api_key: str
    model: str
    window_tokens: int
    places: int
    process: "subprocess.Popen[bytes]"
    log: Path

    @property
    def base_url(self) -> str:
        """Address of Chat Completions."""
        return f"{self.origin}/v1"

    def measure_speed(self) -> Speed:
        """Ask a short question. Raises CannotServeModel where no answer comes."""
        question = {
            "model": self.model,
            "messages": [{"role": "user", "content": _SAMPLE}],
            "max_tokens": _SAMPLE_ANSWER_TOKENS,
        }
        try:
            with self.open_client(_TIMEOUT_S) as client:
                answer = (
                    client.post("/v1/chat/completions", json=question).raise_for_status().json()
                )
            timings = answer["timings"]
            return Speed(read=timings["prompt_per_second"], written=timings["predicted_per_second"])
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            raise CannotServeModel(
                f"{self.model} gave no answer: {read_reason(self.log)}"
            ) from error

    def open_client(self, timeout_s: float) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.api_key}"}
        return httpx.Client(
            base_url=self.origin, headers=headers, timeout=timeout_s, trust_env=False
        )


@contextmanager
def run_model_server(
    program: Path, file: Path, model: str, options: ServerOptions, log: Path
) -> Iterator[ModelServer]:
    """Serve a file under the name `model`; the server ends on leaving, or with this process.

    Raises CannotServeModel.
    """
    port, key = find_port(options.port), secrets.token_urlsafe(32)
    key_file = log.with_suffix(".key")
    _store_key(key_file, key)
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [
                *(sys.executable, "-I", str(GUARD)),
                *build_command(program, file, model, options, port, key_file),
            ],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is for the product, whose last answers it still writes
        ) as process,
    ):
        server = ModelServer(
            origin=f"http://{HOST}:{port}",
            api_key=key,
            model=model,
            window_tokens=options.window_tokens,
            places=options.places,
            process=process,
            log=log,
        )
        try:
            _wait_until_loaded(server)
            key_file.unlink()  # the server has read it
            yield server
        finally:
            key_file.unlink(missing_ok=True)
            _stop(process)


def build_command(
    program: Path, file: Path, model: str, options: ServerOptions, port: int, key_file: Path
) -> Sequence[str]:
    """Build the command line. What older servers do not know is told by the environment."""
    return [
        "env",
        f"LLAMA_ARG_CORS_ORIGINS=http://{HOST}:{port}",
        "LLAMA_ARG_LOG_VERBOSITY=2",
        str(program),
        *("--model", str(file)),
        *("--alias", model),
        *("--host", HOST),
        *("--port", str(port)),
        *("--api-key-file", str(key_file)),
        *("--ctx-size", str(options.places * options.window_tokens)),
        *("--parallel", str(options.places)),
        *(("--threads", str(options.threads)) if options.threads else ()),
        "--jinja",
        "--no-webui",
    ]


def choose_window(context_tokens: int, token_bytes: int, free_bytes: int, places: int = 2) -> int:
    """Return the tokens of a place: what the model can read, and as much as memory holds."""
    fitting = (w for w in WINDOWS_TOKENS if places * w * token_bytes <= free_bytes)
    return min(context_tokens, next(fitting, WINDOWS_TOKENS[-1]))


def measure_free_memory(model_bytes: int) -> int:
    """Return the bytes that a model of a size leaves for what is read."""
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return int(memory_bytes * _MEMORY_SHARE) - model_bytes


def find_port(wanted: int) -> int:
    """Return a free port, the wanted one if possible: what is known of a model is kept by its address."""
    for port in (wanted if wanted <= LAST_PORT else 0, 0):
        try:
            with socket.create_server((HOST, port)) as listener:
                found: int = listener.getsockname()[1]
                return found
        except OSError:
            continue
    raise CannotServeModel("no port is free for the model server")


def describe_end(code: int, log: Path) -> str:
    """Say why a server ended, by its exit code and its log."""
    if code == 128 + 9:
        return "it was killed, as happens where the memory does not suffice for a model"
    return f"{read_reason(log)} (exit code {code}, see {log})"


def read_reason(log: Path) -> str:
    """Return the line of a log that tells the cause, or the last that tells of an error."""
    lines = [_LOG_PREFIX.sub("", line) for line in log.read_text(errors="replace").splitlines()]
    errors = [line for line in lines if _ERROR.search(line)]
    causes = [line.partition(_CAUSE)[2].lstrip(": ") for line in errors if _CAUSE in line]
    return next(iter([*causes, *reversed(errors)]), "it said nothing")


def _store_key(path: Path, key: str) -> None:
    """Write the key into a file for this account alone: command lines are read by all."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(key)


def _wait_until_loaded(server: ModelServer) -> None:
    started = time.monotonic()
    with server.open_client(_TIMEOUT_S) as client:
        while not _is_loaded(client):
            code = server.process.poll()
            if code is not None:
                raise CannotServeModel(
                    f"the model server ended while it loaded the model: "
                    f"{describe_end(code, server.log)}"
                )
            _draw_wait(time.monotonic() - started)
            time.sleep(_POLL_S)
    _draw_wait(0)


def _is_loaded(client: httpx.Client) -> bool:
    try:
        return client.get("/health").is_success
    except httpx.TransportError:
        return False


def _draw_wait(waited_s: float) -> None:
    """Show on a terminal how long it is waited; 0 clears the line."""
    if sys.stderr.isatty():
        text = f"keepsake: loading the model … {waited_s:.0f} s" if waited_s else ""
        print(f"\r{text}\033[K", end="", file=sys.stderr, flush=True)


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """Close the guard's input, at which it ends the server and itself."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
