"""The one way out to addresses that others chose: resolved once, checked, connected as checked."""

import socket
import ssl
import zlib
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import cache, partial
from ipaddress import ip_address
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from shared.domain.egress import EgressRules, Target, accepted, address_refusal, header_refusal
from shared.domain.errors import NotAllowed, TimedOut, TooLarge, Unavailable, Unreadable
from shared.ports import EgressRequest, EgressResponse

if TYPE_CHECKING:
    import httpx

Resolver = Callable[[str, int], Awaitable[list[str]]]
_MOST_ADDRESSES = 4
_CONNECT_S = 10.0
_LOOKUPS = anyio.CapacityLimiter(64)
"""Threads of their own: names that take long to resolve hold up nothing else that runs in threads."""


async def system_resolver(host: str, port: int) -> list[str]:
    """Ask the system for all IPv4 and IPv6 addresses, in the order to try them.

    An address stands for itself: no thread has to wait for it.
    """
    with suppress(ValueError):
        return [str(ip_address(host))]
    look_up = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    found = await anyio.to_thread.run_sync(look_up, abandon_on_cancel=True, limiter=_LOOKUPS)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class GuardedEgress:
    """Sends requests by `EgressRules`; every address a name resolves to must be public.

    A redirect is returned as it stands. Connections are never reused: one to a shared address
    would carry the name it was opened for.
    """

    def __init__(
        self,
        *,
        dev_origins: Iterable[str] = (),
        own_origins: Iterable[str] = (),
        resolve: Resolver = system_resolver,
        transport: "httpx.AsyncBaseTransport | None" = None,
        tls: Callable[[], ssl.SSLContext] | None = None,
    ) -> None:
        self._rules = EgressRules(dev_origins=dev_origins, own_origins=own_origins)
        self._resolve = resolve
        self._transport = transport
        self._tls = tls or _public_tls
        self._context: ssl.SSLContext | None = None

    async def send(self, request: EgressRequest) -> EgressResponse:
        target = self._rules.target(request.url)
        if refusal := header_refusal(request.headers):
            raise NotAllowed(refusal)
        try:
            with anyio.fail_after(request.timeout_s):
                addresses = await self._addresses(target)
                return await self._first_that_connects(target, addresses, request)
        except TimeoutError as late:
            raise TimedOut(f"No whole answer within {request.timeout_s:g} seconds.") from late

    async def _addresses(self, target: Target) -> list[str]:
        """Resolve once; one address that is not public spoils them all."""
        try:
            found = await self._resolve(target.host.strip("[]"), target.port)
        except OSError as unknown:
            raise Unavailable("The host name does not resolve.") from unknown
        refusal = next(filter(None, map(address_refusal, found)), None)
        if refusal and not target.trusted:
            raise NotAllowed(refusal)
        return found[:_MOST_ADDRESSES]

    async def _first_that_connects(
        self, target: Target, addresses: list[str], request: EgressRequest
    ) -> EgressResponse:
        import httpx

        for address in addresses:
            try:
                return await self._exchange(target, address, request)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
            except httpx.TimeoutException as late:
                raise TimedOut("The server stopped answering.") from late
            except httpx.HTTPError as broken:
                raise Unavailable("The connection broke.") from broken
        raise Unavailable("The server cannot be reached.")

    async def _exchange(
        self, target: Target, address: str, request: EgressRequest
    ) -> EgressResponse:
        """Connect to `address`; the name stands in Host, in SNI and in the certificate.

        This is below httpx's client, which reads the address of a redirect even where it does not follow.
        """
        import httpx

        asked = httpx.Request(
            request.method,
            f"{target.scheme}://{_bracketed(address)}:{target.port}{target.path}",
            headers=_headers(target, request),
            content=request.body,
            extensions={
                "sni_hostname": target.host.strip("[]"),
                "timeout": httpx.Timeout(request.timeout_s, connect=_CONNECT_S).as_dict(),
            },
        )
        tls = await self._tls_context()
        async with self._transport or httpx.AsyncHTTPTransport(verify=tls) as transport:
            response = await transport.handle_async_request(asked)
            try:
                _check_type(response, request)
                return EgressResponse(
                    status=response.status_code,
                    content_type=response.headers.get("content-type", ""),
                    body=await _read(response, request.max_bytes) if request.wants_body else b"",
                    headers=dict(response.headers),
                )
            finally:
                await response.aclose()

    async def _tls_context(self) -> ssl.SSLContext:
        """Build it once, in a thread: the world's certificates are many."""
        if self._context is None:
            self._context = await anyio.to_thread.run_sync(self._tls)
        return self._context


def _headers(target: Target, request: EgressRequest) -> dict[str, str]:
    return {
        "user-agent": "Keepsake/1.0",
        "accept": "*/*",
        **{name.lower(): value for name, value in request.headers.items()},
        "host": target.authority,
        "accept-encoding": "gzip",
        "connection": "close",
    }


def _check_type(response: "httpx.Response", request: EgressRequest) -> None:
    """Refuse another type than asked for before its body is read."""
    said = response.headers.get("content-type", "")
    if request.accepts and said and response.is_success and not accepted(said, request.accepts):
        raise Unreadable("The answer is of a type that was not asked for.")


async def _read(response: "httpx.Response", max_bytes: int) -> bytes:
    """Read and decode no further than `max_bytes`, on the wire and unpacked."""
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > max_bytes:
            raise TooLarge(f"The answer is over {max_bytes} bytes.")
    return _unpacked(bytes(body), response.headers.get("content-encoding", ""), max_bytes)


def _unpacked(body: bytes, encoding: str, max_bytes: int) -> bytes:
    if not body or encoding.lower() in ("", "identity"):
        return body
    if encoding.lower() not in ("gzip", "x-gzip", "deflate"):
        raise Unreadable("The answer is encoded in a way that was not asked for.")
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)  # either header
    try:
        whole = unpacker.decompress(body, max_bytes + 1)
    except zlib.error as broken:
        raise Unreadable("The answer cannot be unpacked.") from broken
    if len(whole) > max_bytes:
        raise TooLarge(f"The answer is over {max_bytes} bytes.")
    if not unpacker.eof:
        raise Unreadable("The answer ends before it is unpacked.")
    return whole


@cache
def _public_tls() -> ssl.SSLContext:
    import httpx

    return httpx.create_ssl_context(trust_env=False)


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address
