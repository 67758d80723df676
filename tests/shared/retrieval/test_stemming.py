"""Which English words share a stem."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.retrieval.stemming import stem


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        # From the vocabulary that https://snowballstem.org/algorithms/english/stemmer.html prints.
        ("consign", "consign"),
        ("consigned", "consign"),
        ("consisted", "consist"),
        ("consistency", "consist"),
        ("consolation", "consol"),
        ("consolatory", "consolatori"),
        ("conspicuously", "conspicu"),
        ("conspiracy", "conspiraci"),
        ("conspiring", "conspir"),
        ("constancy", "constanc"),
        ("knackeries", "knackeri"),
        ("knaves", "knave"),
        ("kneaded", "knead"),
        ("kneeling", "kneel"),
        ("knights", "knight"),
        ("knocking", "knock"),
        # Each rule once.
        ("ties", "tie"),
        ("cries", "cri"),
        ("gas", "gas"),
        ("gaps", "gap"),
        ("glasses", "glass"),
        ("agreed", "agre"),
        ("feed", "feed"),
        ("hoping", "hope"),
        ("hopping", "hop"),
        ("adding", "add"),
        ("dying", "die"),
        ("luxuriated", "luxuri"),
        ("say", "say"),
        ("by", "by"),
        ("happily", "happili"),
        ("biology", "biolog"),
        ("biologist", "biolog"),
        ("quickly", "quick"),
        ("relational", "relat"),
        ("hopefulness", "hope"),
        ("radically", "radic"),
        ("formative", "format"),
        ("adjustment", "adjust"),
        ("adoption", "adopt"),
        ("professional", "profession"),
        ("university", "universiti"),
        ("generous", "generous"),
        ("rolling", "roll"),
        ("controlled", "control"),
        ("evening", "evening"),
        ("evenings", "evening"),
        ("exceed", "exceed"),
        ("skies", "sky"),
        ("news", "news"),
    ],
)
def test_an_english_word_is_cut_by_porters_rules(word: str, expected: str):
    assert stem(word) == expected


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
def test_a_form_that_follows_no_rule_meets_its_base(form: str, base: str):
    assert stem(form) == stem(base)


@pytest.mark.parametrize("word", ["straße", "москва", "गीत", "2023", "東京", "é"])
def test_what_is_not_english_stays(word: str):
    assert stem(word) == word


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1))
def test_no_word_becomes_nothing(word: str):
    assert stem(word)
