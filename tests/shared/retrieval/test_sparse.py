"""What a text weighs, and what a question asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.vectors import SparseVector
from shared.retrieval.chunking import Chunk
from shared.retrieval.frequencies import EVERYDAY, FREQUENT, FUNCTION, TELLING, weight
from shared.retrieval.query import parse
from shared.retrieval.sparse import MARK, MAX_TERMS, of_chunks, of_text
from shared.retrieval.terms import term_id, terms


def score(question: str, text: str) -> float:
    return dot(question, of_text(text))


def dot(question: str, told: SparseVector) -> float:
    asked = parse(question).vector
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


def talk(*turns: str) -> list[Chunk]:
    """Read "Ann: hello" as a turn of Ann's."""
    said = (turn.split(": ") for turn in turns)
    return [Chunk(segment=n, speaker=who, text=what) for n, (who, what) in enumerate(said)]


def scores(question: str, *turns: str) -> list[float]:
    return [dot(question, row) for row in of_chunks(talk(*turns), "2 March 2026")]


def test_a_turn_is_found_by_its_neighbours_words_the_less_the_farther_they_stand():
    near = scores("garden", *["Ann: well"] * 4, "Bea: the garden", *["Ann: well"] * 4)

    assert near[0] == near[8] == 0
    assert near[1] < near[2] < near[3] < near[4] > near[5] > near[6] > near[7] > 0


def test_who_speaks_is_found_before_who_is_spoken_to():
    ann, bea = scores("What did Ann paint?", "Ann: Paint it, Bea", "Bea: Paint it, Ann")

    assert ann > bea > 0


def test_somebody_who_is_only_spoken_about_is_found_by_name():
    about, other = scores("Where is Zoe?", "Ann: Zoe left", "Bea: Fine")

    assert about > other > 0


def test_what_the_owner_said_is_found_by_who_asks():
    mine, theirs = scores("Where did I park?", "User: Parked it", "Bea: Parked it")

    assert mine > theirs


def test_a_summary_tells_nothing_by_the_names_of_those_who_spoke():
    assert dot("Ann", of_text("Ann likes herons", ["Ann"])) == MARK * weight("ann")
    assert dot("Ann", of_text("Ann likes herons")) > MARK * weight("ann")


def test_a_speaker_without_a_name_has_none():
    assert len(set(scores("speaker 1", "Speaker 1: Hello", "SPEAKER_01: Hello"))) == 1


def test_asked_when_the_turn_that_names_a_time_is_better():
    told, other = scores("When did she move?", "Ann: We move last week", "Ann: We move the table")

    assert told > other
    assert len(set(scores("Did she move?", "Ann: Move tomorrow", "Ann: Move again"))) == 1


def test_the_day_is_part_of_each_turn():
    assert all(scores("March", "Ann: Hello", "Bea: Hello"))


def test_nothing_asked_is_an_empty_vector():
    assert parse("").vector == parse("?! …").vector == SparseVector((), ())


def test_a_long_text_keeps_a_thousand_terms_and_the_telling_ones():
    text = "the time sister " + " ".join(f"word{n}" for n in range(3_000))

    vector = of_text(text)

    assert len(vector.indices) == MAX_TERMS
    assert not {term_id("the"), term_id("time")} & set(vector.indices)


@given(st.text())
def test_vectors_are_sorted_and_exact_in_32_bits(text: str):
    for vector in (of_text(text), parse(text).vector):
        assert list(vector.indices) == sorted(set(vector.indices))
        assert all(0 <= index < 2**32 for index in vector.indices)
        assert all(value > 0 and (value * 256).is_integer() for value in vector.values)
