"""Token prices: what models ask for a token, by their names.

Also called: pricing.
"""

import re
from collections.abc import Mapping

from shared.domain.value import value


@value
class TokenPrice:
    """US dollars per million tokens: read, read from the provider's cache, and written.

    `cache_write` is the price of what is read and written to the cache; None: that of `input`.
    """

    input: float
    cached: float
    output: float
    cache_write: float | None = None


TokenPrices = Mapping[str, TokenPrice]
"""Prices by the name of the model, without the date of its version."""

DEFAULT_TOKEN_PRICES: TokenPrices = {
    "gpt-6-sol": TokenPrice(input=2.00, cached=0.20, output=10.00, cache_write=2.50),
    "gpt-6-luna": TokenPrice(input=0.10, cached=0.01, output=0.50, cache_write=0.125),
    "gpt-5.1": TokenPrice(input=1.25, cached=0.125, output=10.00),
    "gpt-4.1": TokenPrice(input=2.00, cached=0.50, output=8.00),
    "gpt-4.1-mini": TokenPrice(input=0.40, cached=0.10, output=1.60),
}
"""List prices without discounts, as found in November 2026; docs/settings.md names where."""


def parse_token_price(text: str) -> TokenPrice:
    """Read `input/cached/output`, perhaps with `/cache_write`, in US dollars per million tokens.

    Raises ValueError.
    """
    parts = text.split("/")
    if len(parts) not in (3, 4) or not all(
        re.fullmatch(r"\d{1,6}(\.\d{1,6})?", part) for part in parts
    ):
        raise ValueError(f"{text!r} is no price such as 1.25/0.125/10")
    read, cached, written, *cache_write = map(float, parts)
    return TokenPrice(
        input=read, cached=cached, output=written, cache_write=next(iter(cache_write), None)
    )
