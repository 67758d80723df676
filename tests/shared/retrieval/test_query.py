"""What a question asks for, and how what came back is ranked."""

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.vectors import Hit
from shared.retrieval.query import parse, ranked
from shared.retrieval.sparse import MAX_TERMS, of_text
from shared.retrieval.terms import terms


def hits(question: str, *texts: str) -> list[Hit]:
    """Find texts as an index does; a hit's id is its text."""
    asked = parse(question).vector
    rows = [(text, of_text(text)) for text in texts]
    weights = [(text, dict(zip(row.indices, row.values, strict=True))) for text, row in rows]
    return [
        Hit(
            id=text,
            score=sum(
                row.get(i, 0.0) * v for i, v in zip(asked.indices, asked.values, strict=True)
            ),
            metadata={},
            matched=tuple(row.get(index, 0.0) for index in asked.indices),
        )
        for text, row in weights
    ]


def order(question: str, *texts: str) -> list[str]:
    return [hit.id for hit in ranked(parse(question), hits(question, *texts))]


def test_a_word_that_few_of_the_hits_hold_weighs_more():
    common = [f"The garden was fine {n}" for n in range(30)]

    assert order("otters in gardens", *common, "An otter")[0] == "An otter"


def test_a_kind_is_asked_for_and_a_member_of_it_found():
    assert order("Which pets?", "My sister left", "The dog ran", "No pets")[:2] == [
        "No pets",
        "The dog ran",
    ]


def test_many_members_of_a_kind_count_as_one():
    [one] = ranked(parse("pets"), hits("pets", "dog"))
    [two] = ranked(parse("pets"), hits("pets", "dog hamster"))

    assert two.score <= one.score


def test_a_word_that_is_asked_for_stands_in_for_nothing_else():
    assert order("dogs as pets", "A dog here", "A pet dog here") == ["A pet dog here", "A dog here"]


def test_equal_hits_stay_in_the_order_they_came():
    same = [Hit(id=str(n), score=1, metadata={}, matched=(1.0, 0.0)) for n in range(5)]

    assert [hit.id for hit in ranked(parse("heron"), same)] == list("01234")


def test_a_question_of_very_many_words_is_still_one():
    endless = " ".join(f"word{n}" for n in range(2 * MAX_TERMS))

    assert len(parse(endless).vector.indices) == MAX_TERMS
    assert order(endless, "word7 said", "nothing")[0] == "word7 said"


@given(st.text(max_size=60), st.lists(st.text(max_size=60), unique=True, max_size=5))
def test_every_text_that_shares_a_telling_word_scores_above_nothing(
    question: str, texts: list[str]
):
    found = {hit.id: hit.score for hit in ranked(parse(question), hits(question, *texts))}

    assert set(found) == set(texts)
    assert all(
        (found[text] > 0) >= bool({t for t in terms(question) if len(t) > 9} & set(terms(text)))
        for text in texts
    )
