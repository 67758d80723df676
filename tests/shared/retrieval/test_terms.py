"""Terms of a text: spellings that are equal, and those that are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.retrieval.terms import fold, term_id, tokenize


@pytest.mark.parametrize(
    ("text", "query"),
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
def test_equivalent_spellings_give_the_same_terms(text: str, query: str):
    assert tokenize(text) == tokenize(query) != []


@pytest.mark.parametrize(
    ("word", "other_word"),
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
def test_different_words_give_different_terms(word: str, other_word: str):
    assert tokenize(word) != tokenize(other_word)


def test_numbers_are_terms():
    assert tokenize("Room 1204 at 10:30, 1000") == ["room", "1204", "at", "10", "30", "1000"]


def test_unspaced_scripts_give_characters_and_neighbours():
    assert tokenize("東京駅") == ["東", "京", "駅", "東京", "京駅"]
    assert set(tokenize("猫")) <= set(tokenize("私の猫です"))


def test_spaced_scripts_keep_their_words_whole():
    assert len(tokenize("नमस्ते दुनिया")) == 2
    assert len(tokenize("مرحبا بالعالم")) == 2


def test_punctuation_gives_no_terms():
    assert tokenize("… — 👍 !? _ ' 's") == []


def test_a_term_id_never_changes():
    assert [term_id(term) for term in ("", "hike", "東京")] == [0, 587323364, 2451981039]


@given(st.text())
def test_every_text_has_terms_and_no_term_is_empty(text: str):
    assert all(tokenize(text))


@given(st.text())
def test_case_never_matters(text: str):
    assert tokenize(text.casefold()) == tokenize(text)


@given(st.text(st.characters(max_codepoint=127)))
def test_a_plain_text_folds_as_it_does_beside_other_scripts(text: str):
    assert f"{fold(text)}e" == fold(f"{text}é")
