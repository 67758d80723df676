"""Addresses that others gave us, with what we ask there."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode


def with_query(url: str, params: Mapping[str, Any]) -> str:
    """Add to the query that the address may have; a list repeats its name."""
    return f"{url}{'&' if '?' in url else '?'}{urlencode(params, doseq=True)}"
