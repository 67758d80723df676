"""HTTP of OpenAI-compatible servers: pooled connections, and their refusals as our errors.

The SDK would cost a chat function 0.3 s of each cold start, and here it would only make a POST.

Also called: connection pool, HTTP client.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime
from typing import Any

import httpx
from pydantic_core import to_json

from shared.adapters.trust_store import load_trust_store
from shared.domain.errors import ModelFailed, ModelUnreachable, Unavailable
from shared.models.refusals import Refusal, Refused, read_refusal
from shared.ports import Clock

MAX_ANSWER_BYTES = 64 * 1_048_576
"""Twice the vectors of 256 texts at the largest size, as decimal numbers."""
_MAX_REFUSAL_BYTES = 65_536
_MAX_AT_ONCE = 16
"""Requests that one client carries at once.

httpcore looks at all connections of a pool for each idle one, whenever a request begins or ends
(https://github.com/encode/httpcore/pull/1035): in one pool of 120, each request would cost three times as much.
"""
_LIMITS = httpx.Limits(max_keepalive_connections=_MAX_AT_ONCE)
_CONNECT_ERRORS = (httpx.ConnectError, httpx.ConnectTimeout)


class NothingThere(ModelFailed):
    """The server has nothing at this path; one that knows it may say so of an unknown model."""


class _NoCookies(httpx.Cookies):
    """Takes none: they would go with others' questions, and httpx builds the headers of each answer anew to find any."""

    def extract_cookies(self, response: httpx.Response) -> None:
        pass


class _CookielessClient(httpx.AsyncClient):
    cookies = _NoCookies()  # type: ignore[override]  # nobody sets it


class _Client:
    """A client, and how many requests it carries now."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client
        self.at_work = 0


class OpenaiHttp:
    """Clients of one server, built on first use, in the loop that uses them. A call reaches it once."""

    def __init__(
        self,
        *,
        api_key: str | None,
        base_url: str,
        timeout_s: float,
        clock: Clock,
        connect_timeout_s: float = 5.0,
    ) -> None:
        """`timeout_s` is the longest silence; the caller bounds the whole call.

        Without a key every call raises ModelFailed, because some roles are optional.
        """
        self._api_key = api_key
        self._base_url = base_url
        self._clock = clock
        self._timeout = httpx.Timeout(timeout_s, connect=connect_timeout_s)
        self._urls: dict[str, httpx.URL] = {}
        self._clients: list[_Client] = []

    @asynccontextmanager
    async def stream(
        self, path: str, body: Mapping[str, Any]
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Post `body` and yield the answer's bytes as they come.

        Raises Refused, ModelFailed, ModelUnreachable and Unavailable, on opening or later.
        """
        with _translate_errors():
            content = to_json(body, inf_nan_mode="null")
            async with self._open(path, content) as response:
                if not response.is_success:
                    raise Refused(await _read_refusal(response, self._clock.now()))
                is_encoded = "content-encoding" in response.headers
                yield response.aiter_bytes() if is_encoded else response.aiter_raw()

    @asynccontextmanager
    async def _open(self, path: str, content: bytes) -> AsyncIterator[httpx.Response]:
        """Open a response: once more where the server closed a pooled connection in the meantime.

        llama.cpp closes each soon after a stream, when the next request may be on its way already.
        """
        connections = _Connections()
        with self._lend_client() as client:
            request = httpx.Request(  # the client would join address and headers anew each time
                "POST",
                self._find_url(client, path),
                headers=client.headers,
                content=content,
                extensions={"trace": connections.note, "timeout": self._timeout.as_dict()},
            )
            try:
                response = await client.send(request, stream=True)
            except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
                if connections.count:
                    raise
                response = await client.send(request, stream=True)
            try:
                yield response
            finally:
                await response.aclose()

    def _find_url(self, client: httpx.AsyncClient, path: str) -> httpx.URL:
        if path not in self._urls:
            self._urls[path] = client.build_request("POST", path).url
        return self._urls[path]

    @contextmanager
    def _lend_client(self) -> Iterator[httpx.AsyncClient]:
        """Lend the first client that has room, so that a few requests keep to a few connections."""
        with_room = (each for each in self._clients if each.at_work < _MAX_AT_ONCE)
        chosen = next(with_room, None)
        if chosen is None:
            chosen = _Client(self._build_client())
            self._clients.append(chosen)
        chosen.at_work += 1
        try:
            yield chosen.client
        finally:
            chosen.at_work -= 1

    async def post(self, path: str, body: Mapping[str, Any]) -> bytes:
        """Post `body` and return the answer. Raises ModelFailed, ModelUnreachable and Unavailable."""
        try:
            async with self.stream(path, body) as chunks:
                return await _read(chunks)
        except Refused as error:
            refusal = error.refusal
        failure = refusal.build_error(refusal.find_reason())
        if isinstance(failure, ModelFailed) and refusal.status in (404, 405):
            raise NothingThere(str(failure), reason=failure.reason)
        raise failure

    async def aclose(self) -> None:
        """Close the pooled connections."""
        while self._clients:
            await self._clients.pop().client.aclose()

    def _build_client(self) -> httpx.AsyncClient:
        key = (self._api_key or "").strip()
        if not key:
            message = f"there is no API key for {self._base_url}"
            raise ModelFailed(message, reason="refused_key")
        if not (key.isascii() and key.isprintable()):
            message = f"the API key for {self._base_url} has characters that no header can carry"
            raise ModelFailed(message, reason="refused_key")
        headers = {
            "Authorization": f"Bearer {key}",
            "Accept-Encoding": "identity",  # to unpack each chunk would cost more than it saves
            "Content-Type": "application/json",
            "User-Agent": "keepsake",
        }
        return _CookielessClient(
            verify=load_trust_store(),
            base_url=self._base_url,
            headers=headers,
            timeout=self._timeout,
            limits=_LIMITS,
            follow_redirects=True,
        )


class _Connections:
    """Counts the connections that a request opened; none: it went by a pooled one."""

    def __init__(self) -> None:
        self.count = 0

    async def note(self, event: str, _: Mapping[str, Any]) -> None:
        self.count += event == "connection.connect_tcp.started"


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except httpx.TransportError as error:
        kind = ModelUnreachable if isinstance(error, _CONNECT_ERRORS) else Unavailable
        raise kind(f"no connection to the model: {type(error).__name__}") from None
    except httpx.RequestError as error:  # it redirects for ever, or its bytes are not what it says
        message = f"what answers is no model: {type(error).__name__}"
        raise ModelFailed(message, reason="wrong_server") from None


async def _read_refusal(response: httpx.Response, now: datetime) -> Refusal:
    body = await _read_beginning(response.aiter_bytes())
    return read_refusal(response.status_code, response.headers, body, now)


async def _read(chunks: AsyncIterator[bytes]) -> bytes:
    """Read an answer to its end. Raises ModelFailed for one that does not end."""
    content = bytearray()
    async for chunk in chunks:
        content += chunk
        if len(content) > MAX_ANSWER_BYTES:
            raise ModelFailed("the answer did not end", reason="malformed_answer")
    return bytes(content)


async def _read_beginning(chunks: AsyncIterator[bytes]) -> bytes:
    content = bytearray()
    async for chunk in chunks:
        content += chunk
        if len(content) > _MAX_REFUSAL_BYTES:
            break
    return bytes(content[:_MAX_REFUSAL_BYTES])
