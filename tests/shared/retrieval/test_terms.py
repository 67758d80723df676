"""Which spellings are the same word, and which are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.retrieval.terms import term_id, terms


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("Hiking", "hike"),
        ("HIKED", "hikes"),
        ("planning", "plan"),
        ("dancing", "dance"),
        ("hoping", "hope"),
        ("hopping", "hop"),
        ("times", "time"),
        ("boxes", "box"),
        ("running", "run"),
        ("stories", "story"),
        ("Zoë", "zoe"),
        ("Straße", "STRASSE"),
        ("Caroline’s", "Caroline"),
        ("don't", "dont"),
        ("ｆｕｌｌ", "full"),
        ("e\u0301te\u0301", "été"),
        ("Москва", "МОСКВА"),
        ("كِتَاب", "كتاب"),
        ("दुनिया।", "दुनिया"),
    ],
)
def test_these_spellings_meet(written: str, asked: str):
    assert terms(written) == terms(asked) != []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cat", "car"),
        ("2023", "2024"),
        ("bee", "be"),
        ("glass", "glad"),
        ("sing", "sin"),
        ("Tim", "time"),
        ("Don", "done"),
    ],
)
def test_these_words_stay_apart(one: str, other: str):
    assert terms(one) != terms(other)


def test_numbers_are_terms():
    assert terms("Room 1204 at 10:30, 1000") == ["room", "1204", "at", "10", "30", "1000"]


def test_unspaced_scripts_give_characters_and_neighbours():
    assert terms("東京駅") == ["東", "京", "駅", "東京", "京駅"]
    assert set(terms("猫")) <= set(terms("私の猫です"))


def test_spaced_scripts_keep_their_words_whole():
    assert len(terms("नमस्ते दुनिया")) == 2
    assert len(terms("مرحبا بالعالم")) == 2


def test_signs_alone_are_no_terms():
    assert terms("… — 👍 !? _ ' 's") == []


def test_the_number_of_a_term_never_changes():
    assert [term_id(term) for term in ("", "hike", "東京")] == [0, 587323364, 2451981039]


@given(st.text())
def test_every_text_has_terms_and_no_term_is_empty(text: str):
    assert all(terms(text))


@given(st.text())
def test_case_never_matters(text: str):
    assert terms(text.casefold()) == terms(text)
