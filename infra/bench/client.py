"""HTTP client for streams, small enough to cost less than what it measures."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from contextlib import aclosing, closing, suppress
from dataclasses import dataclass
from typing import Any, Self

import httpx

from infra.bench.processes import LOCAL_KEY
from infra.local.local_key import HEADER

_TIMEOUT_S = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedResponse:
    """A whole answer; `first_s` is the time from connecting to its first text."""

    status: int
    run_id: str
    body: bytes
    first_s: float

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def require(self, status: int = 200) -> Self:
        """Return the answer if it has this status. Raises RuntimeError."""
        if self.status != status:
            raise RuntimeError(f"{self.status}: {self.body[:500]!r}")
        return self

    @property
    def words(self) -> int:
        """Count the words of all `data:` frames, however they were split."""
        frames = self.body.decode().split("\n\n")
        return len("".join(f[6:] for f in frames if f.startswith("data: ")).split())


async def request(
    port: int, method: str, path: str, body: Any = None, *, token: str = ""
) -> TimedResponse:
    """Return the answer. Raises TimeoutError after two minutes."""
    started = time.perf_counter()
    received, first_s = b"", 0.0
    async with aclosing(stream_bytes(port, method, path, body, token=token)) as stream:
        async for data in stream:
            received += data
            if not first_s and b"data: " in received:
                first_s = time.perf_counter() - started
    return parse_response(received, first_s)


async def stream_bytes(
    port: int, method: str, path: str, body: Any = None, *, token: str = ""
) -> AsyncGenerator[bytes, None]:
    """Send HTTP/1.0, so that the answer ends with the connection and is not chunked."""
    async with asyncio.timeout(_TIMEOUT_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with closing(writer), suppress(ConnectionResetError):
            writer.write(_build_head(port, method, path, body, token))
            while data := await reader.read(65_536):
                yield data


def parse_response(received: bytes, first_s: float = 0.0) -> TimedResponse:
    """Read what was received of an answer, its head at least."""
    head, _, rest = received.partition(b"\r\n\r\n")
    status, *fields = head.decode().split("\r\n")
    headers = {
        name.lower(): value for name, _, value in (field.partition(": ") for field in fields)
    }
    run_id = headers.get("x-run-id", "")
    return TimedResponse(status=int(status.split()[1]), run_id=run_id, body=rest, first_s=first_s)


def _build_head(port: int, method: str, path: str, body: Any, token: str) -> bytes:
    content = b"" if body is None else json.dumps(body).encode()
    headers: Mapping[str, str] = {
        "Host": f"127.0.0.1:{port}",
        "Content-Type": "application/json",
        "Content-Length": str(len(content)),
        "Authorization": f"Bearer {token}",
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{method} {path} HTTP/1.0\r\n{lines}\r\n".encode() + content


async def sign_in(port: int, uid: str) -> str:
    """Return a token of this user, from a server that this process started."""
    url = f"http://127.0.0.1:{port}"
    async with httpx.AsyncClient(base_url=url, timeout=_TIMEOUT_S, trust_env=False) as http:
        answer = await http.post("/local/token", json={"uid": uid}, headers={HEADER: LOCAL_KEY})
        return str(answer.raise_for_status().json()["token"])


async def ask(
    port: int, text: str, *, token: str = "", file_ids: Sequence[str] = (), chat: str = ""
) -> TimedResponse:
    """Ask a question, in the main chat or that of this id. Raises RuntimeError when it was refused."""
    question = {"text": text, "file_ids": list(file_ids)}
    path = f"/v2/messages?chat_session_id={chat}" if chat else "/v2/messages"
    return (await request(port, "POST", path, question, token=token)).require()


async def begin_chat(port: int, token: str) -> str:
    """Begin a chat; return its id."""
    answer = await request(port, "POST", "/v2/chat-sessions", {}, token=token)
    return str(answer.require().json["id"])


async def measure_ms(work: Awaitable[object]) -> float:
    started = time.perf_counter()
    await work
    return 1000 * (time.perf_counter() - started)
