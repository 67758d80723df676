"""Cost of a call of a language model, by the tokens that it used; pure.

Also called: cost tracking, billing.
"""

import re
from dataclasses import replace

from shared.domain.models.model import Usage
from shared.domain.models.token_prices import TokenPrice, TokenPrices

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
    cost = compute_cost(price, usage) * (FLEX_SHARE if is_flex else 1)
    return replace(usage, cost_micro_usd=round(cost))


def compute_cost(price: TokenPrice, usage: Usage) -> float:
    """Return micro-dollars: dollars per million tokens are micro-dollars per token."""
    cached = min(usage.cached_tokens, usage.input_tokens)
    kept = min(usage.cache_write_tokens, usage.input_tokens - cached)
    cache_write = price.input if price.cache_write is None else price.cache_write
    read = usage.input_tokens - cached - kept
    written = usage.output_tokens * price.output
    return read * price.input + cached * price.cached + kept * cache_write + written
