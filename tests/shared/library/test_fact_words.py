"""Words of facts: which ones say the same without a model's judgement (C63)."""

import pytest

from shared.library.fact_words import say_the_same

SAME = [
    ("User lives in Bergen", "user lives in BERGEN!"),
    ("User is vegan", "User is a vegan"),
    ("User plays cello", "User plays the cello"),
    ("User has two children", "User has two kids"),
    ("User has an allergy to peanuts", "User has allergies to a peanut"),
    ("User likes tea", "User loves tea"),
    ("用户住在柏林", "用户住在柏林。"),
]
DIFFERENT = [
    ("User is vegan", "User is not vegan"),
    ("User doesn't eat meat", "User eats meat"),
    ("User was a nurse", "User is a nurse"),
    ("User has a nurse", "User is a nurse"),
    ("User is 34", "User is 43"),
    ("User flies to Rome", "User flies from Rome"),
    ("User prefers tea to coffee", "User prefers coffee to tea"),
    ("User's wife teaches", "User teaches wife"),
    ("Anna manages User", "User manages Anna"),
    ("User has a son", "User has a child"),
    ("User has a son", "User has a son and a daughter"),
    ("用户住在柏林", "用户住在罗马"),
]


@pytest.mark.parametrize(("first", "second"), SAME)
def test_facts_with_the_same_words_in_the_same_order_are_one(first: str, second: str) -> None:
    assert say_the_same(first, second)
    assert say_the_same(second, first)


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_facts_that_may_differ_are_two(first: str, second: str) -> None:
    assert not say_the_same(first, second)
    assert not say_the_same(second, first)
