"""Known text: each kind of reference to it is a prefix code of its own, and its work stays linear."""

import sys
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from itertools import product
from math import fsum, inf
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.consent.known_text import normalize_text
from functions.chat.consent.literal_code import list_outside_signs, measure_number, measure_text
from functions.chat.consent.time_code import begin_day, measure_clock, measure_time, parse_time
from tests.functions.chat.consent.disclosure_cases import NOW, build_known, measure

SPELLED = ["".join(row) for length in range(6) for row in product("aAb .ς", repeat=length)]
MIXED = ["".join(row) for length in range(5) for row in product("aA 가😀\u0301", repeat=length)]
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


@pytest.mark.parametrize(
    "message", ["a", "b a", "aba", "Ab ab. A", "abbab bab", "aς Aσ.b", "Bab aa bb", ". a. b"]
)
def test_phrases_with_words_of_a_message_are_a_prefix_code_s2(message):
    known = build_known(message)

    assert 0.05 < fsum(2.0 ** -known.measure_phrase(text, inf) for text in SPELLED) <= 1


@pytest.mark.parametrize(
    "message",
    ["가", "a가", "가가 Aa", "a\u0301a 가", "😀 a😀", "A\u0301\u0301 가\u0301", "aA Aa"],
)
def test_phrases_of_mixed_scripts_are_a_prefix_code_s2(message):
    known = build_known(message)

    assert 0.05 < fsum(2.0 ** -known.measure_phrase(text, inf) for text in MIXED) <= 1


@given(
    st.lists(st.text("aAbB가ς\u0301", min_size=1, max_size=4), min_size=1, max_size=3),
    st.data(),
)
def test_no_phrases_are_cheaper_together_than_a_prefix_code_allows_s2(words, data):
    """Each is made of parts of the message's words, and of other signs."""
    parts = {word[i:j] for word in words for i in range(len(word)) for j in range(i, len(word) + 1)}
    piece = st.sampled_from(sorted(parts | {"a", "A", " ", "가", "😀", "."}))
    phrase = st.lists(piece, min_size=1, max_size=5).map("".join)
    phrases = data.draw(st.sets(phrase, max_size=60)) | parts | set(words)
    known = build_known(" ".join(words))

    assert fsum(2.0 ** -known.measure_phrase(text, inf) for text in phrases) <= 1


@pytest.mark.parametrize(
    ("text", "message", "most"),
    [
        ("remont łazienki", "Znajdź notatkę o remoncie łazienki.", 25),
        ("Olga Tokarczuk", "Czy biblioteka ma książki Olgi Tokarczuk po angielsku?", 26),
        ("Regenjacke Kinder", "Gibt es bei euch Regenjacken für Kinder?", 20),
        ("Leipzig Südvorstadt", "Ein Restaurant in der Leipziger Südvorstadt", 20),
        ("araba sigortası", "Araba sigortasıyla ilgili notumu bul.", 25),
        ("مكيف غرفة النوم", "هل المكيف في غرفة النوم يعمل؟", 20),
        ("leek potato", "What can I cook with leeks and potatoes?", 25),
        ("leek soup", "Leeks? A soup!", 20),
        ("moka 6 tazze", "Avete una moka da sei tazze?", 35),
        ("المكيف غرفة", "مكيف في غرفة النوم", 40),
        ("焼肉 渋谷", "渋谷で今日20時に入れる焼肉屋", 25),
    ],
)
def test_forms_of_words_are_cheap_in_a_phrase_s2(text, message, most):
    assert build_known(message).measure_phrase(text, inf) < most


def test_a_word_that_only_folds_to_one_of_the_message_is_no_form_of_it_s2():
    """The small letter of I is i: one code word must not stand for ıx as well."""
    known = build_known("Ixa b")

    assert known.measure_phrase("ıx b", inf) > known.measure_phrase("ix b", inf) + 10


@pytest.mark.parametrize("text", ["", " ", "a  b", " a", "b "])
def test_a_phrase_has_single_spaces_s2(text):
    assert build_known("a b").measure_phrase(text, inf) == inf


@given(st.text("aAb 가", max_size=12), st.floats(0, 60))
def test_a_limit_changes_no_cost_of_a_phrase_below_it_s2(text, limit):
    known = build_known("Ab ba aab")
    full = known.measure_phrase(text, inf)

    bounded = known.measure_phrase(text, limit)

    assert bounded == (full if full <= limit else inf)


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


def count_calls(act: Callable[[], object]) -> int:
    """Count the calls of functions, also of built-in ones, while something is done."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("part", ["w{n}ab ", "{n} ", "a{n}", "{n}, ", "가{n} "])
@pytest.mark.parametrize("change", ["x{text}", "{text}x", "x {text}", "{text} x", "{text}"])
def test_the_work_of_a_phrase_grows_as_its_text_s2(part, change):
    def measure_phrase(chars: int) -> None:
        words = "".join(part.format(n=n) for n in range(chars // len(part)))[:chars].strip()
        assert build_known(words).measure_phrase(change.format(text=words), 48) > 2

    few = count_calls(partial(measure_phrase, 100_000))
    many = count_calls(partial(measure_phrase, 200_000))

    assert many < 2.2 * few
