"""Disclosure: one prefix code for all calls, shown by Kraft's inequality on the function itself."""

import json
from collections.abc import Iterable, Mapping
from itertools import pairwise, product
from math import fsum, inf, isfinite, log2
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.consent.argument_schema import read_schema
from functions.chat.consent.disclosure import measure_disclosure
from functions.chat.consent.known_text import KnownText
from functions.chat.consent.literal_code import (
    CLASS_SIZES,
    NUMBER_SHARES,
    SHARES,
    measure_length,
    measure_text,
)
from tests.functions.chat.consent.disclosure_cases import (
    ANYTHING,
    QUESTION,
    build_known,
    calls,
    declare,
    measure,
    schemas,
    values,
)

CALL_SHARE = 0.25
"""Two bits of each call say that there is another one: the other 3/4 end the turn."""
ROUNDING = 1e-9
SIGNS = [
    "a",
    "b",
    "A",
    "B",
    "é",
    "e\u0301",
    "1",
    " ",
    "-",
    "가",
    "\u1100\u1161",
    "😀",
    "\u0301",
    "ｂ",
]


def to_wire(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments)


def sum_shares(
    calls: Iterable[Mapping[str, Any]], schema: Any = ANYTHING, known: KnownText | None = None
) -> float:
    """Sum what the distinct canonical forms of calls take of all code words."""
    known = known or build_known()
    bits_of: dict[str, float] = {}
    for call in calls:
        disclosure = measure(call, schema, known)
        wire = to_wire(disclosure.arguments)
        assert bits_of.setdefault(wire, disclosure.bits) == disclosure.bits
    return fsum(2.0**-bits for bits in bits_of.values())


def spell_all(signs: Iterable[str], length: int) -> list[str]:
    spelled = ("".join(row) for n in range(length + 1) for row in product(signs, repeat=n))
    return list(dict.fromkeys(spelled))


TEXTS = spell_all(SIGNS, 3)
NUMBERS = [*range(-20, 200), *(n / 8 for n in range(-20, 20)), -0.0, 1e22, 10**22, 1e-7, 5e-324]
SCALARS = [None, True, False, 0, 1, 1.0, -1, "", "a", "A", "Berlin", "berlin", "1", "true", "null"]
ELEMENTS: list[Any] = [*SCALARS[:7], [], [[]], {}]
LISTS = [list(row) for n in range(4) for row in product(ELEMENTS, repeat=n)]
OBJECTS = [
    dict(zip(keys, row, strict=True))
    for keys in (["a"], ["b"], ["a", "b"], ["b", "a"], ["a", "c"], ["", "a"], ["a "])
    for row in product(SCALARS, repeat=len(keys))
]
EVERYTHING = [*TEXTS[:300], *NUMBERS, *SCALARS, *LISTS, *OBJECTS]

PLACES: dict[str, Any] = {
    "any": {},
    "text": {"type": "string"},
    "number": {"type": "number", "default": 7},
    "yes or no": {"type": "boolean", "default": True},
    "choice": {"enum": ["a", "b", 1, None, True, "Berlin"], "default": "a"},
    "list": {"type": "array", "items": {"type": "boolean"}, "default": [True]},
    "texts": {"type": "array", "items": {"enum": ["a", "b"]}},
    "object": {
        "type": "object",
        "properties": {"a": {"type": "boolean"}, "b": {"default": {"a": 1}}},
        "required": ["a"],
    },
    "map": {"type": "object", "additionalProperties": {"type": "boolean"}},
    "either": {"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "array"}]},
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize(
    ("message", "required"),
    [("", ["x"]), ("a", ["x"]), ("a b 1 a-b Ab 가", ["x"]), (QUESTION, ["x"]), (QUESTION, [])],
)
def test_the_code_words_of_all_small_calls_fit_into_one_prefix_code_s2(place, required, message):
    schema = declare(*required, x=place)
    known = build_known(message, ['{"id": "a", "n": 7}', "b 가, Berlin"])

    total = sum_shares(({"x": value} for value in EVERYTHING), schema, known)

    assert total <= CALL_SHARE * (1 + ROUNDING)


@pytest.mark.parametrize("message", ["", "a b", "Ab aB 가é", "a1é 가A-b 😀\u0301"])
def test_texts_of_mixed_scripts_fit_into_one_prefix_code_s2(message):
    known = build_known(message, ["a b", "é"])

    assert sum_shares(
        ({"x": text} for text in TEXTS), declare("x", x={"type": "string"}), known
    ) <= (CALL_SHARE)


def test_large_numbers_that_are_spelled_in_two_ways_are_two_choices_s2():
    schema = declare("x", x={"enum": [10**16]})

    assert sum_shares(({"x": number} for number in (10**16, 1e16)), schema) <= CALL_SHARE


def test_keys_and_their_absence_fit_into_one_prefix_code_s2():
    schema = declare("a", a={"type": "boolean"}, b={"type": "boolean"}, c={"enum": [1, 2]})
    keys = ["a", "b", "c", "d", "e"]
    members = [
        {key: value for key, value in zip(keys, row, strict=True) if value != "absent"}
        for row in product(["absent", True, False, 1, None], repeat=len(keys))
    ]

    assert CALL_SHARE * 0.7 < sum_shares(members, schema) <= CALL_SHARE


def test_a_declared_boolean_takes_nearly_all_code_words_s2():
    total = sum_shares(({"x": value} for value in EVERYTHING), declare("x", x={"type": "boolean"}))

    assert CALL_SHARE * 0.9 < total <= CALL_SHARE


def test_days_and_minutes_fit_into_one_prefix_code_s2():
    days = [
        f"{y}-{m:02}-{d:02}"
        for y in (2021, 2026, 2032)
        for m in range(14)
        for d in (0, 1, 2, 22, 23, 30, 31)
    ]
    forms = ["", "T00:00", "T15:59:59Z", " 23:59", "T12:00:00+01:00", "T12:00:00+02:00", "T24:00"]
    times = [day + form for day in days for form in forms]
    schema = declare("x", x={"type": "string", "format": "date-time"}, y={"type": "string"})

    assert sum_shares(({"x": time} for time in times), schema) <= CALL_SHARE
    spans = [{"x": first, "y": last} for first in times[6::97] for last in times[::13]]
    assert sum_shares(spans, schema) <= CALL_SHARE


def test_every_span_of_a_message_and_every_case_fits_into_one_prefix_code_s2():
    message = "Call Ann, at 10 for 가b"
    spans = {message[i:j] for i in range(len(message)) for j in range(i + 1, len(message) + 1)}
    cased = {change(span) for span in spans for change in (str.upper, str.lower, str.title, str)}
    joined = {f"{one} {other}" for one in message.split() for other in message.split()}
    words = sorted(spans | cased | joined)

    total = sum_shares(({"x": text} for text in words), declare("x"), build_known(message))

    assert total <= CALL_SHARE


@pytest.mark.parametrize("place", ["any", "text", "either"])
@pytest.mark.parametrize("message", ["Abba, bab 가나b", "Regen a\u0301b 😀😀a"])
def test_forms_of_words_and_new_words_fit_into_one_prefix_code_s2(place, message):
    words = message.split()
    cut = {word[i:j] for word in words for i in range(len(word)) for j in range(i, len(word) + 1)}
    forms = {
        f"{front}{stem}{end}" for front in ("", "b", "가") for stem in cut for end in ("", "a")
    }
    phrases = {f"{one} {other}" for one in forms for other in [*words, *cut, "a", "c", "가"]}

    total = sum_shares(
        ({"x": text} for text in sorted(forms | phrases)),
        declare("x", x=PLACES[place]),
        build_known(message),
    )

    assert total <= CALL_SHARE


def test_shares_of_a_table_never_sum_to_more_than_one_s2():
    assert all(fsum(row) <= 1 + ROUNDING for row in SHARES)
    assert all(len(row) == len(CLASS_SIZES) for row in SHARES)
    assert fsum(NUMBER_SHARES.values()) <= 1
    assert fsum(2 ** -measure_length(n) for n in range(100_000)) <= 1


@given(schemas)
def test_the_shares_of_kinds_sum_to_at_most_one_for_any_schema_s2(schema):
    place = read_schema(schema, schema)

    for shares in (place.kind_bits, place.expect_time().kind_bits):
        assert fsum(2**-bits for bits in shares.values()) <= 1 + ROUNDING


@given(schemas, st.lists(calls, max_size=40), st.text(max_size=20), st.text(max_size=20))
def test_no_family_of_calls_carries_more_than_its_bits_s2(schema, family, message, returned):
    known = build_known(message, [returned])

    assert sum_shares(family, schema, known) <= CALL_SHARE * (1 + ROUNDING)


@given(schemas, st.lists(values, max_size=40), st.text(max_size=20))
def test_no_family_of_values_carries_more_than_its_bits_s2(schema, family, message):
    place = declare("a", a=schema)

    assert sum_shares(({"a": value} for value in family), place, build_known(message)) <= (
        CALL_SHARE * (1 + ROUNDING)
    )


@given(schemas, calls, st.text(max_size=20))
def test_the_canonical_form_is_measured_as_itself_s2(schema, call, message):
    known = build_known(message, [message, '["a ", 7]'])
    disclosure = measure(call, schema, known)

    again = measure(disclosure.arguments, schema, known)

    assert again == disclosure
    assert to_wire(again.arguments) == to_wire(disclosure.arguments)
    assert measure(call, schema, known) == disclosure


@given(schemas, calls, st.floats(0, 200))
def test_a_limit_changes_no_cost_below_it_s2(schema, call, limit):
    full = measure(call, schema)

    bounded = measure(call, schema, limit=limit)

    if full.bits <= limit:
        assert bounded == full
    else:
        assert bounded.bits == inf
        assert bounded.arguments is call


@given(schemas, calls)
def test_every_call_costs_its_tool_s2(schema, call):
    one, many = measure(call, schema), measure(call, schema, tools=64)

    assert many.bits == pytest.approx(one.bits + 6)
    assert one.bits >= 2
    assert isfinite(one.bits)


@pytest.mark.parametrize(
    "value",
    [10**4000, -(10**4000), 1e308, 5e-324, "\ud800\udc00x\udfff", "a" * 10**5, [[]] * 10**4],
)
def test_any_value_of_a_parser_is_measured_s2(value):
    assert measure({"x": value, "\ud800": value}, limit=48).bits == inf


def test_deep_nesting_is_over_every_limit():
    deep: Any = []
    for _ in range(900):
        deep = [deep]

    assert measure({"x": deep}).bits == inf
    assert measure({"x": deep}, declare("x", x={"type": "array", "default": deep})).bits == inf


@pytest.mark.parametrize(
    ("value", "canonical"),
    [
        (" two  words\n", "two words"),
        ("e\u0301", "é"),
        (1.0, 1),
        (-0.0, 0),
        (0.1, 0.1),
        ([1.0, " a "], [1, "a"]),
        ("  kept  ", "  kept  "),
        ("Berlin", "Berlin"),
        ("2026-11-23T15:00:00.000Z", "2026-11-23T15:00:00.000Z"),
    ],
)
def test_the_canonical_form_leaves_no_choice_of_spelling_s2(value, canonical):
    known = build_known(returned=['{"name": "  kept  "}'])

    [sent] = measure({"x": value}, known=known).arguments.values()

    assert to_wire({"x": sent}) == to_wire({"x": canonical})


def test_keys_are_sent_in_the_order_of_the_schema_and_then_of_the_alphabet_s2():
    schema = declare(b={}, a={})

    sent = measure({"d": 1, "a": 1, "c": 1, "b": 1}, schema).arguments

    assert list(sent) == ["b", "a", "c", "d"]


def price(value: Any, place: Any = None, **known: Any) -> float:
    """Return the cost of a required value alone, without the call's."""
    empty = measure({"x": True}, declare("x", x={"type": "boolean"})).bits
    place = {"type": "string"} if place is None else place
    return measure({"x": value}, declare("x", x=place), build_known(**known)).bits - empty + 1


@pytest.mark.parametrize(
    ("value", "place", "least", "most"),
    [
        ("Berlin", None, 6, 9),
        ("weather be in Berlin", None, 6, 9),
        ("berlin", None, 8, 11),
        ("BERLIN", None, 35, 60),
        ("The Weather Be", None, 9, 13),
        ("weathers", None, 18, 27),
        ("weather Berlin", None, 12, 18),
        ("Berli", None, 12, 15),
        ("Berliner weather", None, 30, 40),
        ("weather Berl", None, 17, 24),
        ("weather tram", None, 38, 48),
        ("2026-11-23", None, 6, 17),
        ("2031-05-01", None, 12, 18),
        ("2031-05-01T15:07:00", None, 22, 31),
        ("2031-05-01T15:07:00", {"type": "string", "format": "date-time"}, 22, 29),
        ("19:30", None, 11, 16),
        ("2027-03-05T19:30:00+00:00", None, 18, 34),
        ("qwertz", None, 30, 42),
        ("가나", None, 42, 60),
        (7, {"type": "integer"}, 5, 9),
        (4929, {"type": "integer"}, 13.3, 20),
        ("a", {"enum": ["a", "b", "c", "d"]}, 2, 3),
        (True, {"type": "boolean"}, 1, 1.1),
        (None, {"type": ["string", "null"]}, 2, 4),
        ([True] * 7, {"type": "array", "items": {"type": "boolean"}}, 13, 15),
        ("id-93c1", None, 4, 7),
    ],
)
def test_the_tariff_s2(value, place, least, most):
    known = {"returned": ['{"id": "id-93c1", "title": "Lunch", "n": 4}']}

    assert least <= price(value, place, **known) <= most


def test_the_end_of_a_span_costs_its_length_s2():
    schema = declare("a", "b", a={"type": "string"}, b={"type": "string"})
    start = {"a": "2030-05-06T08:17:00", "b": "2030-05-06T08:17:00"}

    def add(end: str) -> float:
        return measure({**start, "b": end}, schema).bits - measure(start, schema).bits

    assert add("2030-05-06T09:17:00") < 3
    assert add("2030-05-09T08:17:00") < 5
    assert 10 < add("2029-01-31T20:31:00") < 27


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"city": "Berlin"}, QUESTION),
        ({"city": "Berlin", "day": "2026-11-23"}, QUESTION),
        ({"query": "weather Berlin tomorrow"}, QUESTION),
        ({"date": "2026-11-21"}, "How much strain did I have yesterday?"),
        ({"start": "2026-11-23T00:00:00+01:00", "end": "2026-11-23T23:59:59+01:00"}, QUESTION),
        ({"query": "베를린 날씨"}, "내일 베를린 날씨 어때?"),
        ({"query": "柏林"}, "明天柏林天气怎么样"),
        ({"city": "Москва"}, "Какая погода в Москве?"),
        ({"city": "Helsinki"}, "Helsingin sää huomenna?"),
        ({"city": "Munich"}, "Wie wird das Wetter in München?"),
        ({"limit": 10}, "Show the recent issues"),
        ({"query": "remont łazienki"}, "Znajdź notatkę o remoncie łazienki."),
        ({"author": "Olga Tokarczuk"}, "Czy biblioteka ma książki Olgi Tokarczuk po angielsku?"),
        ({"query": "Regenjacke Kinder"}, "Gibt es bei euch Regenjacken für Kinder?"),
        ({"location": "Leipzig Südvorstadt"}, "Ein Restaurant in der Leipziger Südvorstadt"),
        ({"query": "araba sigortası"}, "Araba sigortasıyla ilgili notumu bul."),
        ({"device": "مكيف غرفة النوم"}, "هل المكيف في غرفة النوم يعمل؟"),
    ],
)
def test_honest_calls_stay_below_the_budget_of_a_turn_s2(arguments, message):
    properties = {key: {"type": ["string", "number"]} for key in arguments}

    disclosure = measure(arguments, declare(**properties), build_known(message), tools=8, limit=48)

    assert disclosure.bits < 48
    assert disclosure.arguments == arguments


def test_literal_text_costs_about_the_same_in_every_place_s2():
    assert 4.5 < (measure_text("q" * 101, inf) - measure_text("q", inf)) / 100 < 5.5
    assert 3.2 < (measure_text("7" * 101, inf) - measure_text("7", inf)) / 100 < 3.6
    assert 20 < (measure_text("가" * 101, inf) - measure_text("가", inf)) / 100 < 22
    assert log2(0x110000) < measure_text("가", inf)


def test_the_number_of_words_and_not_of_letters_prices_a_span_s2():
    few, many = ("word " * count + "Berlin" for count in (3, 60))

    assert (
        price("Berlin", message=few) < price("Berlin", message=many) < price("Berlin", message="")
    )


def test_words_of_a_description_are_choices_s2():
    place = {"type": "string", "description": "One of 'in progress', last_7_days (default: any)."}

    assert price("in progress", place) == price("last_7_days", place) == price("any", place) < 8


def test_local_references_are_followed_s2():
    schema = {
        "properties": {"x": {"$ref": "#/$defs/unit"}},
        "$defs": {"unit": {"enum": ["mile", "meter"]}},
    }

    assert measure_disclosure(
        {"x": "mile"}, schema, build_known(), tools=1, limit=48
    ).bits == pytest.approx(measure({"x": "mile"}, declare(x={"enum": ["mile", "meter"]})).bits)


def test_a_local_time_without_a_zone_is_refused():
    with pytest.raises(ValueError, match="zone"):
        KnownText(message="", returned=(), now=build_known().now.replace(tzinfo=None))


def test_lists_of_nothing_are_counted_s2():
    nested: list[Any] = [[], [[]], [[], []], [[[]], []]]

    costs = [measure({"x": value}).bits for value in nested]

    assert all(later - earlier > 1 for earlier, later in pairwise(costs))
