"""Stemming of English words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.retrieval.stemming import stem


@pytest.mark.parametrize(
    ("forms", "expected"),
    [
        ("research researched researching researches", "research"),
        ("hope hoping hoped", "hope"),
        ("hop hopping hopped", "hop"),
        ("adopt adopted adoption", "adopt"),
        ("controlled controlling", "control"),
        ("quick quickly", "quick"),
        ("skies", "sky"),
        ("news", "news"),
    ],
)
def test_forms_of_an_english_word_share_its_stem(forms: str, expected: str):
    assert {stem(form) for form in forms.split()} == {expected}


@pytest.mark.parametrize(
    ("form", "base"),
    [
        ("went", "go"),
        ("ran", "run"),
        ("bought", "buy"),
        ("written", "writing"),
        ("children", "child"),
        ("women", "woman"),
    ],
)
def test_an_irregular_form_has_the_stem_of_its_base(form: str, base: str):
    assert stem(form) == stem(base)


@pytest.mark.parametrize("word", ["straße", "москва", "गीत", "2023", "東京", "é"])
def test_a_word_that_is_not_english_stays_unchanged(word: str):
    assert stem(word) == word


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1))
def test_no_word_is_stemmed_to_an_empty_one(word: str):
    assert stem(word)


def test_a_word_too_long_to_be_english_stays_as_it_is():
    word = "yay" * 60_000  # seconds, if it were stemmed

    assert stem(word) == word
