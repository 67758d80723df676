"""Token prices: what a call of a language model costs, by the name of the model."""

import re
from collections.abc import Mapping
from dataclasses import replace

from shared.domain.model import Usage
from shared.domain.value import value


@value
class TokenPrice:
    """US dollars per million tokens: read, read from the provider's cache, and written."""

    input: float
    cached: float
    output: float


TokenPrices = Mapping[str, TokenPrice]
"""Prices by the name of the model, without the date of its version."""

DEFAULT_TOKEN_PRICES: TokenPrices = {
    "gpt-6-sol": TokenPrice(input=2.00, cached=0.20, output=10.00),
    "gpt-6-luna": TokenPrice(input=0.10, cached=0.01, output=0.50),
    "gpt-5.1": TokenPrice(input=1.25, cached=0.125, output=10.00),
    "gpt-4.1": TokenPrice(input=2.00, cached=0.50, output=8.00),
    "gpt-4.1-mini": TokenPrice(input=0.40, cached=0.10, output=1.60),
}
"""List prices without discounts, as found in November 2026; docs/settings.md names where."""

_VERSION_DATE = re.compile(r"-\d{4}-\d{2}-\d{2}$")


FLEX_SHARE = 0.5
"""What flex processing costs of each price, as OpenAI's pages of models say."""


def price_usage(
    prices: TokenPrices, models: tuple[str, ...], usage: Usage, *, is_flex: bool = False
) -> Usage:
    """Return the usage with its cost, by the first of these names that has a price.

    It has no cost where none has, or where the provider counted no tokens.
    """
    names = (_VERSION_DATE.sub("", name) for name in models)
    price = next((prices[name] for name in names if name in prices), None)
    if price is None or not usage.input_tokens:
        return usage
    cost = _compute_cost(price, usage) * (FLEX_SHARE if is_flex else 1)
    return replace(usage, cost_micro_usd=round(cost))


def _compute_cost(price: TokenPrice, usage: Usage) -> float:
    """Dollars per million tokens are micro-dollars per token."""
    cached = min(usage.cached_tokens, usage.input_tokens)
    uncached = usage.input_tokens - cached
    return uncached * price.input + cached * price.cached + usage.output_tokens * price.output


def parse_token_price(text: str) -> TokenPrice:
    """Read `input/cached/output`, in US dollars per million tokens. Raises ValueError."""
    parts = text.split("/")
    if len(parts) != 3 or not all(re.fullmatch(r"\d{1,6}(\.\d{1,6})?", part) for part in parts):
        raise ValueError(f"{text!r} is no price such as 1.25/0.125/10")
    read, cached, written = map(float, parts)
    return TokenPrice(input=read, cached=cached, output=written)
