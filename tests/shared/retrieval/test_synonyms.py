"""Synonyms in questions."""

from shared.retrieval.stemming import stem
from shared.retrieval.synonyms import list_synonyms


def test_a_category_lists_its_members_but_a_member_not_its_category():
    assert stem("dog") in list_synonyms(stem("pets"))
    assert stem("pet") not in list_synonyms(stem("dog"))


def test_synonyms_are_listed_in_both_directions():
    assert stem("film") in list_synonyms(stem("movies"))
    assert stem("movie") in list_synonyms(stem("films"))


def test_no_word_is_its_own_synonym_and_most_have_none():
    assert "pet" not in list_synonyms("pet")
    assert list_synonyms("heron") == ()
