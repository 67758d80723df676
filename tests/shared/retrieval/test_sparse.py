"""Sparse vectors of texts and questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.ids import PersonId
from shared.domain.store.vectors import SparseVector
from shared.retrieval.chunking import Chunk
from shared.retrieval.query import parse_query
from shared.retrieval.sparse import MARKER_WEIGHT, MAX_TERMS, encode_chunks, encode_text
from shared.retrieval.term_weights import (
    EVERYDAY_WEIGHT,
    FREQUENT_WEIGHT,
    FUNCTION_WEIGHT,
    RARE_WEIGHT,
    get_term_weight,
)
from shared.retrieval.terms import term_id, tokenize


def score(question: str, text: str) -> float:
    return dot(question, encode_text(text))


def dot(question: str, text_vector: SparseVector) -> float:
    question_vector = parse_query(question).vector
    weights = dict(zip(text_vector.indices, text_vector.values, strict=True))
    return sum(
        weights.get(i, 0.0) * v
        for i, v in zip(question_vector.indices, question_vector.values, strict=True)
    )


@pytest.mark.parametrize(
    ("word", "band"),
    [
        ("the", FUNCTION_WEIGHT),
        ("und", FUNCTION_WEIGHT),
        ("où", FUNCTION_WEIGHT),
        ("time", EVERYDAY_WEIGHT),
        ("sister", FREQUENT_WEIGHT),
        ("die", FREQUENT_WEIGHT),
        ("Zanzibar", RARE_WEIGHT),
        ("1987", RARE_WEIGHT),
    ],
)
def test_a_word_weighs_by_how_often_people_use_it(word: str, band: float):
    assert get_term_weight(tokenize(word)[0]) == band


@pytest.mark.parametrize("name", ["Ben", "Dan", "Mia", "Ella", "Will", "May", "Uma"])
def test_a_name_that_is_a_common_word_somewhere_still_counts(name: str):
    assert get_term_weight(tokenize(name)[0]) == FREQUENT_WEIGHT


def test_a_name_outweighs_common_words():
    question = "What did Miriam say about the time?"

    assert score(question, "Miriam: hello") > score(question, "what did they say, what time")


def test_repeating_a_word_counts_less_each_time():
    once, twice, often = (score("garden", "garden " * n) for n in (1, 2, 20))

    assert once < twice < 2 * once
    assert often < 3 * once


def test_a_shorter_text_with_the_same_word_scores_higher():
    assert score("garden", "the garden") > score("garden", "the garden " + "and so on " * 80)


def test_function_words_count_only_in_questions_without_other_words():
    assert score("to be or not to be", "To be, or not to be") > score("to be or not to be", "be")
    assert score("the garden", "the house") == 0


def build_chunks(*turns: str) -> list[Chunk]:
    """Read "Ann: hello" as a turn of Ann's."""
    speaker_and_text = (turn.split(": ") for turn in turns)
    return [
        Chunk(segment=n, speaker=who, text=what) for n, (who, what) in enumerate(speaker_and_text)
    ]


def scores(question: str, *turns: str) -> list[float]:
    return [dot(question, row) for row in encode_chunks(build_chunks(*turns), "2 March 2026")]


def test_a_turn_matches_words_of_its_neighbours_less_with_distance():
    near = scores("garden", *["Ann: well"] * 4, "Bea: the garden", *["Ann: well"] * 4)

    assert near[0] == near[8] == 0
    assert near[1] < near[2] < near[3] < near[4] > near[5] > near[6] > near[7] > 0


def test_a_speaker_ranks_above_the_person_addressed():
    ann, bea = scores("What did Ann paint?", "Ann: Paint it, Bea", "Bea: Paint it, Ann")

    assert ann > bea > 0


def test_a_person_who_is_only_mentioned_is_found_by_name():
    about, other = scores("Where is Zoe?", "Ann: Zoe left", "Bea: Fine")

    assert about > other > 0


def test_a_first_person_question_prefers_the_owners_turns():
    mine, theirs = scores("Where did I park?", "User: Parked it", "Bea: Parked it")

    assert mine > theirs


def test_a_speakers_name_in_a_summary_counts_only_as_a_marker():
    assert dot(
        "Ann", encode_text("Ann likes herons", speakers=["Ann"])
    ) == MARKER_WEIGHT * get_term_weight("ann")
    assert dot("Ann", encode_text("Ann likes herons")) > MARKER_WEIGHT * get_term_weight("ann")


def test_the_name_of_a_person_who_is_called_is_left_out_and_no_other_word():
    said = encode_text("Ann, water the garden", people={PersonId("p1"): "Ann"})

    assert dot("garden", said) == score("garden", "water the garden")


def test_an_unnamed_speaker_gets_no_name_term():
    assert len(set(scores("speaker 1", "Speaker 1: Hello", "SPEAKER_01: Hello"))) == 1


def test_a_when_question_prefers_turns_that_name_a_time():
    with_time, without_time = scores(
        "When did she move?", "Ann: We move last week", "Ann: We move the table"
    )

    assert with_time > without_time
    assert len(set(scores("Did she move?", "Ann: Move tomorrow", "Ann: Move again"))) == 1


def test_the_day_is_part_of_each_turn():
    assert all(scores("March", "Ann: Hello", "Bea: Hello"))


def test_an_empty_question_gives_an_empty_vector():
    assert parse_query("").vector == parse_query("?! …").vector == SparseVector((), ())


def test_a_long_text_keeps_its_thousand_rarest_terms():
    text = "the time sister " + " ".join(f"word{n}" for n in range(3_000))

    vector = encode_text(text)

    assert len(vector.indices) == MAX_TERMS
    assert not {term_id("the"), term_id("time")} & set(vector.indices)


@given(st.text())
def test_vectors_are_sorted_and_exact_in_32_bits(text: str):
    for vector in (encode_text(text), parse_query(text).vector):
        assert list(vector.indices) == sorted(set(vector.indices))
        assert all(0 <= index < 2**32 for index in vector.indices)
        assert all(value > 0 and (value * 256).is_integer() for value in vector.values)
