"""What a text weighs, and what a question asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.vectors import SparseVector
from shared.retrieval.frequencies import EVERYDAY, FREQUENT, FUNCTION, TELLING, weight
from shared.retrieval.sparse import MAX_TERMS, of_query, of_text
from shared.retrieval.terms import term_id, terms


def score(question: str, text: str) -> float:
    asked, told = of_query(question), of_text(text)
    weights = dict(zip(told.indices, told.values, strict=True))
    return sum(weights.get(i, 0.0) * v for i, v in zip(asked.indices, asked.values, strict=True))


@pytest.mark.parametrize(
    ("word", "band"),
    [
        ("the", FUNCTION),
        ("und", FUNCTION),
        ("où", FUNCTION),
        ("time", EVERYDAY),
        ("sister", FREQUENT),
        ("die", FREQUENT),
        ("Zanzibar", TELLING),
        ("1987", TELLING),
    ],
)
def test_a_word_weighs_by_how_often_people_use_it(word: str, band: float):
    assert weight(terms(word)[0]) == band


@pytest.mark.parametrize("name", ["Ben", "Dan", "Mia", "Ella", "Will", "May", "Uma"])
def test_a_name_that_is_a_common_word_somewhere_still_counts(name: str):
    assert weight(terms(name)[0]) == FREQUENT


def test_a_name_outweighs_what_everybody_says():
    question = "What did Miriam say about the time?"

    assert score(question, "Miriam: hello") > score(question, "what did they say, what time")


def test_repeating_a_word_counts_less_each_time():
    once, twice, often = (score("garden", "garden " * n) for n in (1, 2, 20))

    assert once < twice < 2 * once
    assert often < 3 * once


def test_the_shorter_of_two_texts_that_say_it_is_better():
    assert score("garden", "the garden") > score("garden", "the garden " + "and so on " * 80)


def test_words_of_no_weight_count_where_there_are_no_others():
    assert score("to be or not to be", "To be, or not to be") > score("to be or not to be", "be")
    assert score("the garden", "the house") == 0


def test_nothing_asked_is_an_empty_vector():
    assert of_query("") == of_query("?! …") == SparseVector((), ())


def test_a_long_text_keeps_a_thousand_terms_and_the_telling_ones():
    text = "the time sister " + " ".join(f"word{n}" for n in range(3_000))

    vector = of_text(text)

    assert len(vector.indices) == MAX_TERMS
    assert not {term_id("the"), term_id("time")} & set(vector.indices)


@given(st.text())
def test_vectors_are_sorted_and_exact_in_32_bits(text: str):
    for vector in (of_text(text), of_query(text)):
        assert list(vector.indices) == sorted(set(vector.indices))
        assert all(0 <= index < 2**32 for index in vector.indices)
        assert all(value > 0 and (value * 256).is_integer() for value in vector.values)
