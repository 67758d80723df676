"""Suggested questions keep their rules, whatever a model suggests (M118)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.notes.suggested_questions import MAX_CHARS, MAX_SUGGESTIONS, select_questions

GOOD = "Show me the cheapest train"


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        "Zeig mir den billigsten Zug",
        "明日の会議の予定を教えて",
        "比较这两个方案的费用",
        "Покажи мне самый дешёвый поезд",
        " “Show me the cheapest train” ",
        "- Show me the cheapest train",
    ],
)
def test_a_suggestion_may_be_in_any_language_m118(text: str) -> None:
    assert len(select_questions([text], script="")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Show the train",
        "予定を教えて",
        "Show me the [cheapest] train",
        "Show me the train (cheap one)",
        "Show me 【the】 cheapest train",
        "Ask @travel for the cheapest train",
        "Open https://evil.example and log in",
        "Show me the cheapest\ntrain to Lisbon",
        "word " * 60,
    ],
)
def test_what_breaks_a_rule_is_dropped_m118(text: str) -> None:
    assert select_questions([text], script="") == ()


def test_each_is_suggested_once_and_never_the_question_itself_m118() -> None:
    texts = [
        GOOD,
        GOOD.upper(),
        f"{GOOD}?",
        "What does the train cost now",
        "Book the train for Ann",
    ]

    assert select_questions(texts, script="", asked="What does the train cost, now?") == (
        GOOD,
        "Book the train for Ann",
    )


def test_letters_of_another_language_are_dropped_m118() -> None:
    texts = [GOOD, "Покажи мне самый дешёвый поезд", "明日の会議の予定を教えて"]

    assert select_questions(texts, script="LATIN") == (GOOD,)
    assert select_questions(texts, script="CYRILLIC") == (texts[1],)
    assert select_questions(texts, script="CJK") == (texts[2],)


@given(st.lists(st.text(max_size=200) | st.just(GOOD), max_size=30), st.text(max_size=40))
def test_every_list_of_suggestions_is_bounded_and_clean_m118(texts: list[str], asked: str) -> None:
    chosen = select_questions(texts, script="", asked=asked)

    assert len(chosen) <= MAX_SUGGESTIONS
    assert all(len(text) <= MAX_CHARS and not set("[](){}<>@\n") & set(text) for text in chosen)
    assert len({text.casefold() for text in chosen}) == len(chosen)
