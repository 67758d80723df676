"""Egress rules against SSRF: the URLs, IP addresses and headers that a call to a third party may use.

Pure checks without a transport. Refusals are NotAllowed, or a reason in one sentence.
"""

import ipaddress
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from urllib.parse import quote

from shared.domain.errors import NotAllowed
from shared.domain.value import value

_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>[a-z0-9.-]+|\[[0-9a-f:.]+\])(:(?P<port>[0-9]{1,5}))?"
    r'(?P<path>([/?][!-"$-\[\]-~]*)?)',  # printable ASCII without # and backslash
    re.ASCII | re.IGNORECASE,  # without ASCII, K matches the Kelvin sign
)
_URL_SIGNS = "!$%&'()*+,/:;=?@[]~"
"""Signs that stand in a URL as they are; others, such as quotes and braces, are encoded."""
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_TOP_LEVEL = re.compile(r"[a-z]{2,63}|xn--[a-z0-9-]{1,59}")
_LOCAL_NAMES = frozenset(
    [
        "alt",
        "arpa",
        "cluster",
        "consul",
        "corp",
        "home",
        "internal",
        "intra",
        "intranet",
        "invalid",
        "lan",
        "local",
        "localdomain",
        "localhost",
        "onion",
        "private",
        "svc",
        "test",
        "workgroup",
        "metadata.goog",
    ]
)
_REFUSED_V4 = tuple(
    map(
        ipaddress.IPv4Network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",  # private
            "100.64.0.0/10",  # carrier-grade NAT; one cloud's metadata lives here
            "127.0.0.0/8",  # loopback
            "168.63.129.16/32",  # a cloud's host agent, behind a public-looking address
            "169.254.0.0/16",  # link-local; metadata of most clouds
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # protocol assignments
            "192.0.2.0/24",  # documentation
            "192.31.196.0/24",  # AS112
            "192.52.193.0/24",  # multicast tunnels
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",  # private
            "192.175.48.0/24",  # AS112
            "198.18.0.0/15",  # benchmarking
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/3",  # multicast, reserved, broadcast
        ),
    )
)
_GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
"""Global unicast; excludes loopback, IPv4-mapped, NAT64, unique local and link-local addresses."""
_REFUSED_V6 = tuple(
    map(
        ipaddress.IPv6Network,
        (
            "2001::/23",  # protocol assignments: Teredo, ORCHID, benchmarking
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4: carries any IPv4 address
            "2620:4f:8000::/48",  # AS112
            "3fff::/20",  # documentation
        ),
    )
)
_ISATAP = frozenset({0x0000_5EFE, 0x0200_5EFE})
"""The upper 32 bits of an ISATAP interface id; the lower 32 can be any IPv4 address."""

MAX_URL_CHARS = 16_384
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_TEXT = re.compile(r"[\t -~]*")

Origin = tuple[str, str, int]
"""Scheme, host, port."""


@value
class Target:
    """A parsed URL. A `trusted` one is of a development origin and may be local.

    `path` is path and query exactly as they are sent; an empty query has no question mark.
    """

    scheme: str
    host: str
    port: int
    path: str
    trusted: bool = False

    @property
    def origin(self) -> Origin:
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """The Host header: with the port only if it is not the default of the scheme."""
        default_port = {"http": 80, "https": 443}[self.scheme]
        return self.host if self.port == default_port else f"{self.host}:{self.port}"


class EgressRules:
    """An allow-list of URLs: https, an allowed port and a public name, or a development origin.

    With `allows_local`, a call may also name origins of this machine that it is allowed.
    """

    def __init__(
        self,
        *,
        dev_origins: Iterable[str] = (),
        own_origins: Iterable[str] = (),
        ports: Iterable[int] = (443,),
        allows_local: bool = False,
    ) -> None:
        """Parse the origins, such as http://127.0.0.1:9000. Raises ValueError for anything else."""
        self._dev = frozenset(map(_parse_origin, dev_origins))
        self._own = frozenset(map(_parse_origin, own_origins))
        self._ports = frozenset(ports)
        self._allows_local = allows_local

    def validate_url(self, url: str, local_origins: Collection[str] = ()) -> Target:
        """Parse and check a URL before its name is resolved. Raises NotAllowed with the reason."""
        target = _parse_url(url)
        if target is None:
            raise NotAllowed("The address is not a plain http(s) URL.")
        if any(_is_same_server(target.origin, own) for own in self._own):
            raise NotAllowed("The address is one of our own.")
        if target.origin in self._dev or self._is_allowed_here(target, local_origins):
            return replace(target, trusted=True)
        if reason := self._find_refusal(target):
            raise NotAllowed(reason)
        return target

    def _is_allowed_here(self, target: Target, local_origins: Collection[str]) -> bool:
        is_local = self._allows_local and _is_loopback(target.host)
        return is_local and target.origin in map(_parse_origin, local_origins)

    def _find_refusal(self, target: Target) -> str | None:
        if target.scheme != "https":
            return "The address must start with https://."
        if target.port not in self._ports:
            return f"Port {target.port} is not allowed."
        return find_host_refusal(target.host)


def find_local_origin(url: str) -> str | None:
    """Return the origin of a URL that leads to this machine itself, such as http://127.0.0.1:3000."""
    target = _parse_url(url)
    if target is None or not _is_loopback(target.host):
        return None
    return f"{target.scheme}://{target.authority}"


def find_host_refusal(host: str) -> str | None:
    """Return why a host name is refused; None for a public DNS name."""
    labels = host.split(".")
    if len(host) > 253 or not all(map(_LABEL.fullmatch, labels)):
        return "The host is not a DNS name."
    if len(labels) < 2 or not _TOP_LEVEL.fullmatch(labels[-1]):
        return "The host must be a public DNS name, not an IP address or a local name."
    if labels[-1] in _LOCAL_NAMES or ".".join(labels[-2:]) in _LOCAL_NAMES:
        return "The host is a local name."
    return None


def find_address_refusal(address: str) -> str | None:
    """Return why a resolved IP address is refused; None for a public one."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return "The host does not resolve to an IP address."
    return None if _is_public(ip) else "The host does not lead to the public internet."


def find_header_refusal(headers: Mapping[str, str]) -> str | None:
    """Return why headers are refused: line breaks in untrusted values could inject headers."""
    for name, text in headers.items():
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_TEXT.fullmatch(text):
            return "A header is not plain text."
    return None


def matches_media_type(content_type: str, types: Iterable[str]) -> bool:
    """Tell whether a media type is one of `types`, such as application/json or text/*.

    A type with the suffix +json, such as application/problem+json, counts as application/json.
    """
    media_type = content_type.partition(";")[0].strip().lower()
    family = media_type.partition("/")[0] + "/*"
    base_type = "application/json" if media_type.endswith("+json") else media_type
    return not {media_type, family, base_type}.isdisjoint(types)


def _is_public(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    if isinstance(ip, ipaddress.IPv4Address):
        return not any(ip in network for network in _REFUSED_V4)
    if ip.scope_id is not None or ip not in _GLOBAL_V6:
        return False
    isatap = int(ip) >> 32 & 0xFFFF_FFFF in _ISATAP
    return not isatap and not any(ip in network for network in _REFUSED_V6)


def read_request_target(url: str) -> str:
    """Return path and query as Egress sends them; empty for an address that it refuses."""
    target = _parse_url(url)
    return target.path if target else ""


def _parse_url(url: str) -> Target | None:
    match = _URL.fullmatch(url)
    if match is None or len(url) > MAX_URL_CHARS:
        return None
    scheme = match["scheme"].lower()
    port = int(match["port"] or {"http": 80, "https": 443}[scheme])
    path, _, query = quote(match["path"], safe=_URL_SIGNS).partition("?")
    return Target(
        scheme=scheme,
        host=match["host"].lower(),
        port=port,
        path=f"{path or '/'}?{query}" if query else path or "/",
    )


def _parse_origin(text: str) -> Origin:
    target = _parse_url(text)
    if target is None or target.path != "/" or text.endswith("/"):
        raise ValueError(f"{text!r} is not an origin such as http://127.0.0.1:9000")
    return target.origin


def _is_same_server(first: Origin, second: Origin) -> bool:
    """Compare host and port; all names of the local machine are equal."""
    (_, first_host, first_port), (_, second_host, second_port) = first, second
    both_local = _is_this_machine(first_host) and _is_this_machine(second_host)
    return first_port == second_port and (first_host == second_host or both_local)


def _is_this_machine(host: str) -> bool:
    if _is_loopback(host) or host.endswith(".localhost"):
        return True
    ip = _parse_address(host)
    return ip is not None and ip.is_unspecified


def _is_loopback(host: str) -> bool:
    ip = _parse_address(host)
    return host == "localhost" or (ip is not None and ip.is_loopback)


def _parse_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
