"""Choice of links: what it tells is counted as the code word of a set, in one prefix code (M123)."""

from itertools import combinations
from math import fsum

from hypothesis import given
from hypothesis import strategies as st

from functions.chat.consent.link_choice import MAX_CHECKED, choose_links
from shared.domain.chats.chat import LinkChoice

BUDGET = 48.0


def build_urls(count: int) -> list[str]:
    return [f"https://site.example/{number}" for number in range(count)]


def test_all_results_of_a_search_may_be_looked_up_m123() -> None:
    found = build_urls(20)

    choice = choose_links(found[:10], found, BUDGET)

    assert choice == LinkChoice(urls=tuple(found[:10]), bits=choice.bits if choice else 0.0)
    assert choice is not None
    assert choice.bits < 22


def test_a_page_of_a_thousand_links_learns_no_more_than_the_budget_m123() -> None:
    found = build_urls(1_000)

    choice = choose_links(found[::100], found, BUDGET)

    assert choice is not None
    assert len(choice.urls) == 5


@given(st.integers(0, 2_000), st.integers(1, 2_000), st.floats(0, BUDGET))
def test_no_choice_is_dearer_than_what_is_left_m123(shown: int, found: int, left: float) -> None:
    urls = build_urls(found)

    choice = choose_links(urls[:shown], urls, left)

    assert choice is None or (0 < choice.bits <= left and 0 < len(choice.urls) <= MAX_CHECKED)


def test_the_code_words_of_all_choices_fit_one_prefix_code_m123() -> None:
    found = build_urls(8)
    choices = [
        choose_links(each, found, BUDGET)
        for count in range(1, 9)
        for each in combinations(found, count)
    ]

    assert fsum(2**-choice.bits for choice in choices if choice) <= 1
