"""Redirect addresses of programs: which may be registered, which fit, and how a browser goes back there.

Also called: open redirect defence.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlencode, urlsplit

from shared.domain.local_address import is_local_url, is_loopback

MAX_CHARS: Final = 500
_ADDRESS = re.compile(
    r"https?://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?([/?][A-Za-z0-9._~:/?\[\]!$&'()*+,;=%-]*)?"
)
"""Neither a user's name nor a fragment, nor what browsers read as another sign; hosts as people read them."""


def is_acceptable(uri: str) -> bool:
    """Tell whether a program may be sent a code there: by https, or on the owner's own machine."""
    if len(uri) > MAX_CHARS or not _ADDRESS.fullmatch(uri):
        return False
    try:
        parts = urlsplit(uri)
        host, _ = parts.hostname or "", parts.port  # a port that there is not raises
    except ValueError:
        return False
    return parts.scheme == "https" or is_loopback(host)


def is_registered(uri: str, registered: Sequence[str]) -> bool:
    """Tell whether an address is one of these, sign by sign; on this machine the port is free (RFC 8252)."""
    return is_acceptable(uri) and any(
        uri == other or (is_local_url(other) and _drop_port(uri) == _drop_port(other))
        for other in registered
    )


def _drop_port(uri: str) -> str:
    parts = urlsplit(uri)
    return parts._replace(netloc=parts.netloc.removesuffix(f":{parts.port}")).geturl()


def read_host(uri: str) -> str:
    return urlsplit(uri).hostname or ""


def build_return_url(uri: str, fields: Mapping[str, str]) -> str:
    """Add fields to an address; those that are empty are left out."""
    query = urlencode({name: text for name, text in fields.items() if text})
    return f"{uri}{'&' if '?' in uri else '?'}{query}"
