"""Known text: each kind of reference to it is a prefix code of its own, and its work stays linear."""

from datetime import timedelta
from itertools import product
from math import fsum, inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.security.known_text import normalize_text
from shared.security.literal_code import list_outside_signs, measure_number, measure_text
from shared.security.time_code import begin_day, measure_clock, measure_time, parse_time
from tests.shared.security.disclosure_cases import NOW, build_known, measure

SPELLED = ["".join(row) for length in range(6) for row in product("aAb .ς", repeat=length)]
CANONICAL = sorted({normalize_text(text) for text in SPELLED})
ROUNDING = 1e-9


@pytest.mark.parametrize("message", ["a", "b a", "a b A", "ab ab. a", "aς Aσ.b", ". . .", "B aa"])
def test_references_to_a_message_are_prefix_codes_s2(message):
    known = build_known(message)

    words = fsum(2.0 ** -known.measure_words(text, inf) for text in SPELLED)
    parts = fsum(2.0 ** -known.measure_part(text, inf) for text in SPELLED)
    literal = fsum(2.0 ** -known.measure_literal(text, inf) for text in SPELLED)

    assert 0.2 < words <= 1 + ROUNDING
    assert 0.2 < parts <= 1 + ROUNDING
    assert literal <= 1


@given(st.text("aAbBς .", max_size=6), st.lists(st.text("aAbBσ .", max_size=8), max_size=60))
def test_no_texts_are_cheaper_together_than_a_prefix_code_allows_s2(message, texts):
    known = build_known(message)
    distinct = set(map(normalize_text, texts)) | set(message.split())

    assert fsum(2.0 ** -known.measure_words(text, inf) for text in distinct) <= 1 + ROUNDING
    assert fsum(2.0 ** -known.measure_part(text, inf) for text in distinct) <= 1 + ROUNDING


def test_returned_values_share_one_code_s2():
    returned = ['{"a": ["b", 7, "two words, and more"], "c": null}', "id: i7\nname - Lunch", "7"]
    known = build_known(returned=returned)
    values = [
        "b",
        "7",
        "two words, and more",
        "two words",
        "i7",
        "Lunch",
        "words",
        "more",
        "a",
        "c",
    ]

    costs = {value: known.measure_returned(value) for value in values}

    assert {value for value, bits in costs.items() if bits < inf} == {*values} - {"a", "c"}
    assert fsum(2.0**-bits for bits in costs.values()) <= 1


def test_numbers_of_a_message_share_one_code_s2():
    known = build_known("7 or 7.5, not -3, of 1e3")
    spelled = ["7", "7.5", "-3", "3", "5", "1e3", "1", "75"]

    costs = {number: known.measure_number(number) for number in spelled}

    assert {number for number, bits in costs.items() if bits == inf} == {"1", "75"}
    assert fsum(2.0**-bits for bits in costs.values()) <= 1


@pytest.mark.parametrize("last", ["", "2026-11-22", "2024-05-01", "2029-01-02T05:07:00Z"])
def test_times_share_one_code_s2(last):
    last_time = parse_time(last, NOW) or begin_day(NOW)
    days = [begin_day(NOW).moment + timedelta(days=day) for day in range(-1830, 1830)]
    times = [f"{day:%Y-%m-%d}" for day in days]
    minutes = [
        f"{day:%Y-%m-%d}T{time}"
        for day in days[1700::5]
        for time in ("00:00:00Z", "05:07:59Z", "05:07:00Z", "05:00", "23:59", "23:59:59.999+01:00")
    ]
    parsed = [parse_time(text, NOW) for text in [*times, *minutes]]

    total = fsum(2.0 ** -measure_time(time, last_time) for time in parsed if time)

    assert 0.05 < total <= 1


def test_days_minutes_and_times_of_day_share_one_code_s2():
    clocks = [f"{h:02}:{m:02}{s}" for h in range(25) for m in range(61) for s in ("", ":00", ":59")]
    days = [begin_day(NOW).moment + timedelta(days=day) for day in range(-1830, 1830)]
    times = [
        f"{day:%Y-%m-%d}{form}" for day in days for form in ("", "T00:00+00:00", "T00:00+01:00")
    ]
    parsed = [parse_time(text, NOW) for text in times]

    total = fsum(2.0 ** -measure_clock(text) for text in clocks)
    total += fsum(2.0 ** -measure_time(time, begin_day(NOW)) for time in parsed if time)

    assert 0.4 < total <= 1


def test_literal_texts_and_numbers_are_prefix_codes_s2():
    signs = ["a", "A", "é", "7", " ", "-", "가", "😀"]
    texts = ["".join(row) for length in range(5) for row in product(signs, repeat=length)]
    numbers = [*map(str, range(-99, 1000)), *(f"{n / 10}" for n in range(1000))]

    for given_signs in ["", "가", "가😀"]:
        for behind in ["", "a", "가", "7"]:
            costs = (measure_text(t, inf, behind=behind, signs=given_signs) for t in texts)
            assert fsum(2.0**-bits for bits in costs) <= 1
    assert fsum(2.0 ** -measure_number(number, inf) for number in numbers) <= 1


def test_outside_signs_are_those_without_a_place_in_the_table_s2():
    assert list_outside_signs("aÉ7 -…가😀가") == {"가", "😀"}


@given(st.text())
def test_normalized_text_is_its_own_normal_form(text):
    assert normalize_text(normalize_text(text)) == normalize_text(text)


ENDLESS = [
    "a",
    "a ",
    "a b ",
    "aA",
    "Ab ",
    "\u0301\u0323",
    "가",
    "a\u0301",
    " ",
    ", ",
    "ς'",
    "7",
    "😀 ",
]


@pytest.mark.parametrize("part", ENDLESS)
@pytest.mark.parametrize("end", ["", "x", " x"])
def test_the_work_is_linear_in_message_and_arguments_s2(part, end):
    """Work that grew with the square of the length would not end here."""
    text = part * (200_000 // len(part))
    known = build_known(text, [text + end, f'["{text}"]'])

    assert measure({"x": text + end}, known=known, limit=48).bits > 2
    assert measure({"x": [text[: len(text) // 2] + end] * 9}, known=known, limit=48).bits > 2
