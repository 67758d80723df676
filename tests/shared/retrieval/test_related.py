"""Which words stand for one another."""

from shared.retrieval.related import related
from shared.retrieval.stemming import stem


def test_a_kind_has_its_members_and_a_member_not_its_kind():
    assert stem("dog") in related(stem("pets"))
    assert stem("pet") not in related(stem("dog"))


def test_words_of_like_meaning_stand_for_one_another():
    assert stem("film") in related(stem("movies"))
    assert stem("movie") in related(stem("films"))


def test_no_word_stands_for_itself_and_most_stand_alone():
    assert "pet" not in related("pet")
    assert related("heron") == ()
