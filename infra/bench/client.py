"""The smallest client that can measure a stream: it must cost less than what it measures."""

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A whole answer; `first_s` is when its first text arrived, from before connecting."""

    status: int
    body: bytes
    first_s: float

    @property
    def words(self) -> int:
        """Count the words of all `data:` frames, however they were cut."""
        frames = self.body.decode().split("\n\n")
        return len("".join(f[6:] for f in frames if f.startswith("data: ")).split())


async def request(
    port: int, method: str, path: str, body: Any = None, *, token: str = ""
) -> Answer:
    """Speak HTTP/1.0, so that the answer ends with the connection and is not chunked."""
    started = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(_head(port, method, path, body, token))
    received, first_s = b"", 0.0
    while data := await reader.read(65_536):
        received += data
        if not first_s and b"data: " in received:
            first_s = time.perf_counter() - started
    writer.close()
    head, _, rest = received.partition(b"\r\n\r\n")
    return Answer(status=int(head.split()[1]), body=rest, first_s=first_s)


def _head(port: int, method: str, path: str, body: Any, token: str) -> bytes:
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
    answer = await request(port, "POST", "/local/token", {"uid": uid})
    token: str = json.loads(answer.body)["token"]
    return token


async def ask(port: int, text: str, *, token: str = "") -> Answer:
    """Put a question. Raises RuntimeError when it was refused."""
    answer = await request(port, "POST", "/v2/messages", {"text": text}, token=token)
    if answer.status != 200:
        raise RuntimeError(f"{answer.status}: {answer.body[:500]!r}")
    return answer
