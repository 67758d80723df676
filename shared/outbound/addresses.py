"""Addresses of third parties, as requests take them."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urldefrag, urlencode, urlsplit, urlunsplit

_SIGNS = "!$%&'()*+,/:;=?@[]~"


def with_query(url: str, params: Mapping[str, Any]) -> str:
    """Append to the address's query; a list repeats its name."""
    return f"{url}{'&' if '?' in url else '?'}{urlencode(params, doseq=True)}"


def to_ascii(url: str) -> str:
    """Write an address as it is sent, without a fragment. Raises ValueError."""
    parts = urlsplit(urldefrag(url.strip())[0])
    host = parts.netloc if parts.netloc.isascii() else parts.netloc.encode("idna").decode()
    path, query = (quote(part, safe=_SIGNS) for part in (parts.path, parts.query))
    return urlunsplit((parts.scheme, host, path, query, ""))
