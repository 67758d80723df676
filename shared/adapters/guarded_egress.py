"""Egress against SSRF: an address is resolved once, checked, and connected to as it was checked.

Also called: DNS rebinding defence, outbound proxy.
"""

import socket
import ssl
import zlib
from collections.abc import Awaitable, Callable, Collection, Iterable
from contextlib import suppress
from functools import cache, partial
from ipaddress import ip_address
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from shared.domain.amounts import describe_bytes
from shared.domain.errors import NotAllowed, TimedOut, TooLarge, Unavailable, Unreadable
from shared.ports import EgressRequest, EgressResponse
from shared.security.egress_rules import (
    EgressRules,
    Target,
    find_address_refusal,
    find_header_refusal,
    matches_media_type,
)

if TYPE_CHECKING:
    import httpx

Resolver = Callable[[str, int], Awaitable[list[str]]]
_MAX_ADDRESSES = 4
_CONNECT_TIMEOUT_S = 10.0
_STATUS_MARGIN_S = 1.0
"""An answer whose body nobody needs is returned so long before the end of its time."""
_LOOKUP_LIMITER = anyio.CapacityLimiter(64)
"""Threads for name resolution: slow names delay no other work in threads."""


async def resolve_with_system(host: str, port: int) -> list[str]:
    """Resolve to all IPv4 and IPv6 addresses, in the order to try them.

    An IP address needs no thread.
    """
    with suppress(ValueError):
        return [str(ip_address(host))]
    look_up = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    address_infos = await anyio.to_thread.run_sync(
        look_up, abandon_on_cancel=True, limiter=_LOOKUP_LIMITER
    )
    return list(dict.fromkeys(str(address[0]) for *_, address in address_infos))


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
        allows_local: bool = False,
        resolve: Resolver = resolve_with_system,
        transport: "httpx.AsyncBaseTransport | None" = None,
        tls: Callable[[], ssl.SSLContext] | None = None,
    ) -> None:
        self._rules = EgressRules(
            dev_origins=dev_origins, own_origins=own_origins, allows_local=allows_local
        )
        self._resolve = resolve
        self._transport = transport
        self._tls = tls or _build_public_tls
        self._context: ssl.SSLContext | None = None

    def check_url(self, url: str, *, local_origins: Collection[str] = ()) -> None:
        self._rules.validate_url(url, local_origins)

    async def send(self, request: EgressRequest) -> EgressResponse:
        target = self._rules.validate_url(request.url, request.local_origins)
        if refusal := find_header_refusal(request.headers):
            raise NotAllowed(refusal)
        try:
            with anyio.fail_after(request.timeout_s):
                addresses = await self._resolve_target(target)
                return await self._send_to_first_reachable(target, addresses, request)
        except TimeoutError as error:
            raise TimedOut(f"No whole answer within {request.timeout_s:g} seconds.") from error

    async def _resolve_target(self, target: Target) -> list[str]:
        """Resolve once; refuse the name if one of its addresses is not public."""
        try:
            addresses = await self._resolve(target.host.strip("[]"), target.port)
        except OSError as error:
            raise Unavailable("The host name does not resolve.") from error
        refusal = next(filter(None, map(find_address_refusal, addresses)), None)
        if refusal and not target.trusted:
            raise NotAllowed(refusal)
        return addresses[:_MAX_ADDRESSES]

    async def _send_to_first_reachable(
        self, target: Target, addresses: list[str], request: EgressRequest
    ) -> EgressResponse:
        import httpx

        for address in addresses:
            try:
                return await self._exchange(target, address, request)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
            except httpx.TimeoutException as error:
                raise TimedOut("The server stopped answering.") from error
            except httpx.HTTPError as error:
                raise Unavailable("The connection broke.") from error
        raise Unavailable("The server cannot be reached.")

    async def _exchange(
        self, target: Target, address: str, request: EgressRequest
    ) -> EgressResponse:
        """Connect to `address`; the name is used for Host, SNI and the certificate.

        This happens below httpx's client, which reads the address of a redirect even when it does
        not follow.
        """
        import httpx

        http_request = httpx.Request(
            request.method,
            f"{target.scheme}://{_bracket_ipv6(address)}:{target.port}{target.path}",
            headers=_build_headers(target, request),
            content=request.body,
            extensions={
                "target": target.path.encode(),  # as it was signed; httpx may write it differently
                "sni_hostname": target.host.strip("[]"),
                "timeout": httpx.Timeout(request.timeout_s, connect=_CONNECT_TIMEOUT_S).as_dict(),
            },
        )
        tls = await self._load_tls_context()
        async with self._transport or httpx.AsyncHTTPTransport(verify=tls) as transport:
            response = await transport.handle_async_request(http_request)
            try:
                _check_type(response, request)
                return EgressResponse(
                    status=response.status_code,
                    content_type=response.headers.get("content-type", ""),
                    body=await _read_body(response, request.max_bytes)
                    if request.is_body_needed
                    else await _read_optional_body(response, request.max_bytes),
                    headers=dict(response.headers),
                )
            finally:
                await response.aclose()

    async def _load_tls_context(self) -> ssl.SSLContext:
        """Build the TLS context once, in a thread: it loads many certificates."""
        if self._context is None:
            self._context = await anyio.to_thread.run_sync(self._tls)
        return self._context


def _build_headers(target: Target, request: EgressRequest) -> dict[str, str]:
    return {
        "user-agent": "Keepsake/1.0",
        "accept": "*/*",
        **{name.lower(): value for name, value in request.headers.items()},
        "host": target.authority,
        "accept-encoding": "gzip",
        "connection": "close",
    }


def _check_type(response: "httpx.Response", request: EgressRequest) -> None:
    """Refuse a type that was not requested before reading the body."""
    content_type = response.headers.get("content-type", "")
    if (
        request.accepts
        and content_type
        and response.is_success
        and not matches_media_type(content_type, request.accepts)
    ):
        raise Unreadable("The answer is of a type that was not asked for.")


async def _read_body(response: "httpx.Response", max_bytes: int) -> bytes:
    """Read and decode at most `max_bytes`, both compressed and decompressed."""
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > max_bytes:
            raise TooLarge(f"The answer is over {describe_bytes(max_bytes)}.")
    return _decompress(bytes(body), response.headers.get("content-encoding", ""), max_bytes)


async def _read_optional_body(response: "httpx.Response", max_bytes: int) -> bytes:
    """Read the body, or return an empty one where that fails or takes too long."""
    import httpx

    deadline = anyio.current_effective_deadline() - _STATUS_MARGIN_S
    with suppress(httpx.HTTPError, TooLarge, Unreadable), anyio.CancelScope(deadline=deadline):
        return await _read_body(response, max_bytes)
    return b""


def _decompress(body: bytes, encoding: str, max_bytes: int) -> bytes:
    if not body or encoding.lower() in ("", "identity"):
        return body
    if encoding.lower() not in ("gzip", "x-gzip", "deflate"):
        raise Unreadable("The answer is encoded in a way that was not asked for.")
    decompressor = zlib.decompressobj(zlib.MAX_WBITS | 32)  # either header
    try:
        content = decompressor.decompress(body, max_bytes + 1)
    except zlib.error as error:
        raise Unreadable("The answer cannot be unpacked.") from error
    if len(content) > max_bytes:
        raise TooLarge(f"The answer is over {describe_bytes(max_bytes)}.")
    if not decompressor.eof:
        raise Unreadable("The answer ends before it is unpacked.")
    return content


@cache
def _build_public_tls() -> ssl.SSLContext:
    import httpx

    return httpx.create_ssl_context(trust_env=False)


def _bracket_ipv6(address: str) -> str:
    return f"[{address}]" if ":" in address else address
