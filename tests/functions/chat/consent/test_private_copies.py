"""Private copies: four digits or a secret of what was read are found, however few bits they cost."""

from typing import Any

import pytest

from functions.chat.consent.private_copies import (
    ReadTexts,
    contains_unsaid_secret,
    copies_private_text,
)
from tests.functions.chat.consent.disclosure_cases import build_known

READ = ReadTexts(
    [
        "The card is 4929 1234 5678 9012, the PIN 8842. Dinner on 2026-12-05 at 19:30, in 2022 and 2027.",
        '{"password": "open sesame"} and password=hunter2, call +49 170 5550123',
        "key sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    ]
)


@pytest.mark.parametrize(
    "value",
    [
        "8842",
        8842,
        88420,
        -8842.5,
        "x8842y",
        ["a", {"b": "PIN 8842"}],
        {"8842": True},
        "４９２９",
        "٨٨٤٢",
        "5678 9012",
        "hunter2",
        "say open sesame now",
        "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "4929-12-34T56:78:90+1273",
        "P884249281700",
        "1930-12-05",
    ],
)
def test_what_was_read_and_not_said_is_found_s2(value: Any):
    read = ReadTexts(["until 1930", "PIN 8842, card 4929 1234 5678 9012, password=hunter2"])
    read.add('{"password": "open sesame"} sk_live_4eC39HqLyjWDarjtT1zdp7dc')

    assert copies_private_text({"a": value}, build_known("What is the weather?"), read)


@pytest.mark.parametrize("value", ["8842", 8842, "hunter2", "open sesame"])
def test_what_the_message_says_as_well_is_not_private_s2(value: Any):
    known = build_known("Is 8842 the PIN, hunter2 or open sesame the password?")

    assert not copies_private_text({"a": value}, known, READ)


@pytest.mark.parametrize(
    "value",
    [
        "Berlin",
        "884",
        "2026-12-05",
        "2026-12-05T19:30:00+01:00",
        "begin zomertijd 2027",
        2022,
        "3141",
        True,
        None,
        [],
        "sesame",
        "password",
    ],
)
def test_what_was_not_read_and_days_are_no_copies_s2(value: Any):
    assert not copies_private_text({"a": value}, build_known(), READ)


@pytest.mark.parametrize(
    ("value", "is_unsaid"),
    [
        ("8842", True),
        ("Berlin 10115", True),
        (52.5201, True),
        ("password=hunter2", True),
        (["x", {"b": "sk_live_4eC39HqLyjWDarjtT1zdp7dc"}], True),
        ("1984", True),
        ("2026-12-05T19:30:00+01:00", False),
        ("summer 2027", False),
        ("route 4711", False),
        ("481233905571", False),
        ("eggplant, 45 minutes", False),
    ],
)
def test_in_a_clean_turn_numbers_and_secrets_are_the_message_s_s2(value: Any, *, is_unsaid: bool):
    known = build_known("Where does route 4711 go, with parcel 4812-3390-5571?")

    assert contains_unsaid_secret({"a": value}, known) is is_unsaid


def test_a_secret_is_found_with_its_lines_joined_s2():
    key = "-----BEGIN PRIVATE KEY-----\nabc\ndef\n-----END PRIVATE KEY-----"

    assert copies_private_text({"a": " ".join(key.split())}, build_known(), ReadTexts([key]))


def test_an_id_that_the_receiver_returned_may_contain_digits_that_were_read_s2():
    known = build_known(returned=['{"id": "ord-18842", "pin": 8842}', "8842, 8843 and 8844"])

    assert not copies_private_text({"a": "ord-18842"}, known, READ)
    assert copies_private_text({"a": "8842"}, known, READ)
    assert copies_private_text({"a": 8842}, known, READ)


def test_nothing_read_is_nothing_copied():
    assert not copies_private_text({"a": "8842 hunter2"}, build_known(), ReadTexts())


def test_the_work_is_linear_in_what_was_read_and_is_sent():
    """Work that grew with the square of the length would not end here."""
    read = ReadTexts(["7" * 300_000, "8842 " * 60_000])

    assert copies_private_text({"a": ["1" * 300_000, "7" * 300_000]}, build_known("1"), read)
