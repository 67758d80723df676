"""Public codes: what anybody may name costs which of its list it is (S2)."""

from math import fsum, inf

import pytest

from functions.chat.consent.public_codes import _measure_codes, measure_public_code
from tests.functions.chat.consent.disclosure_cases import NOW, declare, measure


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("DXB", 13, 15),
        ("LON", 13, 15),
        ("EUR", 9, 11),
        ("sv", 9, 11),
        ("2026", 3, 7),
        ("2031", 3, 7),
        ("2032", inf, inf),
        ("dxb", inf, inf),
        ("ZZZZ", inf, inf),
        ("", inf, inf),
    ],
)
def test_a_code_costs_which_of_its_list_it_is_s2(text: str, least: float, most: float):
    assert least <= measure_public_code(text, NOW) <= most


def test_the_shares_of_all_codes_sum_to_at_most_one_s2():
    years = [measure_public_code(str(year), NOW) for year in range(1_000, 10_000)]

    assert fsum(2.0**-bits for bits in [*_measure_codes().values(), *years]) <= 1


def test_a_conversion_between_two_currencies_is_within_a_turn_s2():
    text = {"type": "string"}
    schema = declare("from", "to", **{"from": text, "to": text, "year": {"type": "integer"}})

    call = measure({"from": "JPY", "to": "EUR", "year": 2024}, schema, tools=4, limit=48)

    assert call.bits < 48
