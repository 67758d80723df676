"""Token prices: what a call costs, and the calls whose cost is not known (D5)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.models.model import Usage
from shared.domain.models.token_prices import (
    DEFAULT_TOKEN_PRICES,
    TokenPrice,
    parse_token_price,
)
from shared.domain.models.usage_cost import price_usage

PRICES = {"big": TokenPrice(input=1.25, cached=0.125, output=10.0)}
USAGE = Usage(input_tokens=1_000, cached_tokens=600, output_tokens=30)


@pytest.mark.parametrize(
    ("models", "cost"),
    [
        (("big",), 500 + 75 + 300),
        (("big-2026-03-02", "big"), 875),
        (("answered-by-another", "big"), 875),
        (("big-mini",), None),
        (("unknown", "unknown-too"), None),
    ],
)
def test_a_call_costs_what_its_model_does_whatever_the_date_of_its_version_d5(
    models: tuple[str, ...], cost: int | None
) -> None:
    assert price_usage(PRICES, models, USAGE).cost_micro_usd == cost


def test_a_call_whose_tokens_the_provider_did_not_count_has_no_cost_d5() -> None:
    assert price_usage(PRICES, ("big",), Usage()).cost_micro_usd is None


def test_flex_processing_costs_half_d5() -> None:
    usage = Usage(input_tokens=1_000, cached_tokens=600, output_tokens=30)

    assert price_usage(PRICES, ("big",), usage, is_flex=True).cost_micro_usd == round(875 / 2)


@pytest.mark.parametrize(("price", "cost"), [("1/0.1/10", 190), ("1/0.1/10/1.5", 240)])
def test_what_is_written_to_the_cache_has_a_price_of_its_own_d5(price: str, cost: int) -> None:
    usage = Usage(input_tokens=1_000, cached_tokens=900, cache_write_tokens=500)
    prices = {"big": parse_token_price(price)}

    assert price_usage(prices, ("big",), usage).cost_micro_usd == cost


@given(*[st.integers(0, 10**7)] * 4)
def test_no_count_of_a_provider_makes_a_cost_negative_d5(
    read: int, cached: int, kept: int, written: int
) -> None:
    usage = Usage(
        input_tokens=read + 1,
        cached_tokens=cached,
        cache_write_tokens=kept,
        output_tokens=written,
    )

    priced = price_usage(DEFAULT_TOKEN_PRICES, ("gpt-6-sol",), usage)

    assert priced.cost_micro_usd is not None
    assert priced.cost_micro_usd >= round(written * 10)


@pytest.mark.parametrize(
    "text", ["", "1", "1/2", "1/2/3/4/5", "1/2/3/", "a/b/c", "-1/2/3", "1e3/2/3", "nan/1/1"]
)
def test_what_is_no_price_is_refused_d5(text: str) -> None:
    with pytest.raises(ValueError, match="is no price such as"):
        parse_token_price(text)
