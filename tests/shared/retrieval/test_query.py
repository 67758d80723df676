"""Query of the index: terms of a question, and the ranking of hits."""

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.store.vectors import Hit
from shared.retrieval.query import parse_query, rescore
from shared.retrieval.sparse import MAX_TERMS, encode_text
from shared.retrieval.terms import tokenize


def find_hits(question: str, *texts: str) -> list[Hit]:
    """Find texts as an index does; a hit's id is its text."""
    question_vector = parse_query(question).vector
    rows = [(text, encode_text(text)) for text in texts]
    weights = [(text, dict(zip(row.indices, row.values, strict=True))) for text, row in rows]
    return [
        Hit(
            id=text,
            score=sum(
                row.get(i, 0.0) * v
                for i, v in zip(question_vector.indices, question_vector.values, strict=True)
            ),
            metadata={},
            term_weights=tuple(row.get(index, 0.0) for index in question_vector.indices),
        )
        for text, row in weights
    ]


def rank_texts(question: str, *texts: str) -> list[str]:
    return [hit.id for hit in rescore(parse_query(question), find_hits(question, *texts))]


def test_a_word_that_few_hits_contain_weighs_more():
    common = [f"The garden was fine {n}" for n in range(30)]

    assert rank_texts("otters in gardens", *common, "An otter")[0] == "An otter"


def test_a_category_in_a_question_matches_its_members():
    assert rank_texts("Which pets?", "My sister left", "The dog ran", "No pets")[:2] == [
        "No pets",
        "The dog ran",
    ]


def test_several_members_of_a_category_count_once():
    [one_member] = rescore(parse_query("pets"), find_hits("pets", "dog"))
    [two_members] = rescore(parse_query("pets"), find_hits("pets", "dog hamster"))

    assert two_members.score <= one_member.score


def test_a_question_word_is_no_synonym_of_another_question_word():
    assert rank_texts("dogs as pets", "A dog here", "A pet dog here") == [
        "A pet dog here",
        "A dog here",
    ]


def test_equal_hits_keep_their_order():
    equal_hits = [Hit(id=str(n), score=1, metadata={}, term_weights=(1.0, 0.0)) for n in range(5)]

    assert [hit.id for hit in rescore(parse_query("heron"), equal_hits)] == list("01234")


def test_a_very_long_question_is_truncated_to_max_terms():
    long_question = " ".join(f"word{n}" for n in range(2 * MAX_TERMS))

    assert len(parse_query(long_question).vector.indices) == MAX_TERMS
    assert rank_texts(long_question, "word7 said", "nothing")[0] == "word7 said"


@given(st.text(max_size=60), st.lists(st.text(max_size=60), unique=True, max_size=5))
def test_every_text_that_shares_a_rare_word_scores_above_zero(question: str, texts: list[str]):
    score_by_text = {
        hit.id: hit.score for hit in rescore(parse_query(question), find_hits(question, *texts))
    }

    assert set(score_by_text) == set(texts)
    assert all(
        (score_by_text[text] > 0)
        >= bool({t for t in tokenize(question) if len(t) > 9} & set(tokenize(text)))
        for text in texts
    )
