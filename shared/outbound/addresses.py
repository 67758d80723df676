"""Addresses of third parties, with query parameters added."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode


def with_query(url: str, params: Mapping[str, Any]) -> str:
    """Append to the address's query; a list repeats its name."""
    return f"{url}{'&' if '?' in url else '?'}{urlencode(params, doseq=True)}"
