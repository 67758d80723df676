"""Disclosure plays: ways that once carried a secret out of harmless-looking calls, each of them priced.

Each play writes 16 digits, 53 bits, into the calls of a turn.
"""

from collections.abc import Mapping, Sequence
from math import fsum, log2
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.consent.disclosure import TURN_BUDGET_BITS
from tests.functions.chat.consent.disclosure_cases import build_known, declare, measure

CARD = "4929123456781273"
CARD_BITS = log2(10) * len(CARD)
QUESTION = "What is the weather in Berlin today?"
DIGITS = st.text("0123456789", min_size=16, max_size=16)
Call = Mapping[str, Any]


def measure_turn(calls: Sequence[Call], place: Any, tools: int = 1) -> float:
    known = build_known(QUESTION, ["Berlin: 12 degrees", '{"city": "Berlin", "id": 7}'])
    schema = declare(**{name: place for call in calls for name in call})
    return fsum(measure(call, schema, known, tools=tools).bits for call in calls)


def as_pattern_date(digits: str) -> list[Call]:
    d = digits
    return [{"date": f"{d[:4]}-{d[4:6]}-{d[6:8]}T{d[8:10]}:{d[10:12]}:00+{d[12:]}"}]


def as_duration(digits: str) -> list[Call]:
    return [{"until": f"P{digits}"}]


def as_real_days(digits: str) -> list[Call]:
    return [{"d": f"2027-{1 + int(a) % 10:02}-{1 + int(b):02}"} for a, b in pair(digits)]


def as_twelve_numbers_a_call(digits: str) -> list[Call]:
    return [{f"n{i}": int(digit) for i, digit in enumerate(digits[k : k + 12])} for k in (0, 12)]


def as_numbers_below_10_000(digits: str) -> list[Call]:
    return [{"n": int(digits[k : k + 4])} for k in range(0, 16, 4)]


def as_amounts(digits: str) -> list[Call]:
    return [{"n": int(digits[k : k + 4]) / 100} for k in range(0, 16, 4)]


def as_words_of_the_message(digits: str) -> list[Call]:
    return [{"cells": [("Berlin", "weather")[int(b)] for d in digits for b in f"{int(d):04b}"]}]


def as_nested_empty_lists(digits: str) -> list[Call]:
    return [{"x": [[[] for _ in range(int(digit))] for digit in digits]}]


def as_nothings(digits: str) -> list[Call]:
    nothings: list[Any] = ["", None, "none", []]
    return [{"x": [nothings[int(d) % 4], nothings[int(d) // 4 % 4]]} for d in digits]


def as_defaults(digits: str) -> list[Call]:
    return [{f"x{i}": "none" if int(d) % 2 else "" for i, d in enumerate(digits)}] * 4


def as_case(digits: str) -> list[Call]:
    letters = "weather in berlin"
    return [{"x": "".join(map(flip, letters, f"{int(pair):07b}"))} for pair in split(digits)]


def as_width(digits: str) -> list[Call]:
    return [{"x": "".join(chr(0xFF10 + int(digit)) for digit in digits)}]


def as_signs_between_words(digits: str) -> list[Call]:
    return [{"x": "weather" + "-_.,;:!?/|"[int(digit)] + "Berlin"} for digit in digits]


def as_endings(digits: str) -> list[Call]:
    return [{"x": f"weather{'abcdefghij'[int(digit)]} Berlin"} for digit in digits]


def as_cut_words(digits: str) -> list[Call]:
    return [{"x": f"weather {'What is the weather'[: int(digit) + 1]}x"} for digit in digits]


def as_forms_in_a_phrase(digits: str) -> list[Call]:
    return [
        {"x": " ".join("weather"[: 1 + int(digit) % 7] + "s" * (digit > "6") for digit in digits)}
    ]


def as_spaces(digits: str) -> list[Call]:
    return [{"x": "weather " + " " * int(digit) + "in" + "\u2003" * int(digit)} for digit in digits]


def as_choices(digits: str) -> list[Call]:
    return [{"unit": f"unit {digit}"} for digit in digits]


def as_names_of_keys(digits: str) -> list[Call]:
    return [{f"k{digit}": True} for digit in digits]


def as_keys_that_are_there(digits: str) -> list[Call]:
    return [{f"x{i}": True for i, bit in enumerate(f"{int(digits):060b}") if bit == "1"}]


def as_order_of_keys(digits: str) -> list[Call]:
    return [dict.fromkeys(sorted("abcdefghijklmnop", key=lambda k: digits[ord(k) - 97]), True)]


def as_lengths_of_lists(digits: str) -> list[Call]:
    return [{"x": [True] * int(digits[k : k + 3])} for k in range(0, 15, 3)]


def as_hangul(digits: str) -> list[Call]:
    return [{"x": chr(0xAC00 + int(digits[k : k + 4]))} for k in range(0, 16, 4)]


def as_emoji(digits: str) -> list[Call]:
    return [{"x": chr(0x1F300 + int(pair))} for pair in split(digits)]


def as_marks(digits: str) -> list[Call]:
    return [{"x": "o" + "".join(chr(0x300 + int(digit)) for digit in digits)}]


def as_returned_values(digits: str) -> list[Call]:
    return [{"x": ["7", "Berlin", "12", "degrees", "city"][int(d) % 5]} for d in digits * 2]


def as_spelling_of_numbers(digits: str) -> list[Call]:
    return [{"x": float(f"1e{digit}")} for digit in digits]


def pair(digits: str) -> list[tuple[str, str]]:
    return list(zip(digits[::2], digits[1::2], strict=True))


def split(digits: str) -> list[str]:
    return [digits[k : k + 2] for k in range(0, 16, 2)]


def flip(letter: str, bit: str) -> str:
    return letter.upper() if bit == "1" else letter


TEXT = {"type": "string"}
NUMBER = {"type": "number"}
PLAYS = [
    (as_pattern_date, TEXT),
    (as_pattern_date, {"type": "string", "format": "date-time"}),
    (as_duration, TEXT),
    (as_real_days, {"type": "string", "format": "date"}),
    (as_twelve_numbers_a_call, NUMBER),
    (as_numbers_below_10_000, NUMBER),
    (as_amounts, NUMBER),
    (as_words_of_the_message, {"type": "array", "items": TEXT}),
    (as_nested_empty_lists, {"type": "array", "items": {"type": "array"}}),
    (as_nothings, {"type": "array", "items": {"type": ["string", "null"], "default": "none"}}),
    (as_defaults, {"type": "string", "default": "none"}),
    (as_case, TEXT),
    (as_width, TEXT),
    (as_signs_between_words, TEXT),
    (as_endings, TEXT),
    (as_cut_words, TEXT),
    (as_forms_in_a_phrase, TEXT),
    (as_choices, {"enum": [f"unit {digit}" for digit in range(10)]}),
    (as_keys_that_are_there, {"type": "boolean", "default": True}),
    (as_lengths_of_lists, {"type": "array", "items": {"enum": [True]}}),
    (as_hangul, TEXT),
    (as_emoji, TEXT),
    (as_marks, TEXT),
    (as_returned_values, TEXT),
    (as_spelling_of_numbers, NUMBER),
]


@pytest.mark.parametrize(("play", "place"), PLAYS)
def test_a_card_number_costs_more_than_a_turn_may_tell_s2(play, place):
    assert measure_turn(play(CARD), place) > CARD_BITS > TURN_BUDGET_BITS


@pytest.mark.parametrize(("play", "place"), PLAYS)
@given(secrets=st.lists(DIGITS, min_size=2, max_size=20))
def test_the_turns_of_a_play_share_one_prefix_code_s2(play, place, secrets):
    """Some secrets, such as zeros alone, are cheap: then the others are dear."""
    turns = {str(play(secret)): play(secret) for secret in secrets}

    assert fsum(2.0 ** -measure_turn(turn, place) for turn in turns.values()) <= 1


@given(DIGITS)
def test_the_order_of_keys_tells_nothing_s2(digits):
    schema = declare(**{key: {"type": "boolean"} for key in "abcdefghijklmnop"})
    [call], [sorted_call] = as_order_of_keys(digits), as_order_of_keys("0" * 16)

    assert str(measure(call, schema).arguments) == str(measure(sorted_call, schema).arguments)


@given(DIGITS)
def test_the_width_of_spaces_tells_nothing_s2(digits):
    sent = {measure(call, declare(x=TEXT)).arguments["x"] for call in as_spaces(digits)}

    assert sent == {"weather in"}


def test_the_choice_among_many_tools_is_counted_s2():
    calls: list[Call] = [{}] * 7

    assert measure_turn(calls, TEXT, tools=32) > TURN_BUDGET_BITS


def test_calls_add_up_over_a_turn_s2():
    one = measure_turn([{"n": 17}], NUMBER)

    assert measure_turn([{"n": 17}] * 5, NUMBER) == pytest.approx(5 * one)


def test_undeclared_keys_are_spelled_out_s2():
    known = build_known(QUESTION)
    calls = as_names_of_keys(CARD)

    assert fsum(measure(call, declare(), known).bits for call in calls) > CARD_BITS
