"""Word match: every word of a query, in any form, and the excerpt around the first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.context.word_match import (
    MAX_EXCERPT_CHARS,
    build_excerpt,
    has_words,
    parse_words,
)


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("ferry", "When do the ferries leave?", True),
        ("FERRIES leave", "The ferry was leaving.", True),
        ("tul", "What about tulips?", True),
        ("lips", "What about tulips?", False),
        ("ferry tulip", "What about tulips?", False),
        ("cafe", "Im Café um drei", True),
        ("予約", "ホテルを予約しました", True),
        ("42", "Room 42 is free", True),
        ("a.b*", "a b", True),
    ],
)
def test_a_text_is_found_by_all_words_of_a_query(query: str, text: str, *, expected: bool) -> None:
    assert has_words(text, parse_words(query)) is expected


def test_an_excerpt_stands_around_the_first_word() -> None:
    text = f"{'early words ' * 30}then the ferries leave at nine {'and later ' * 30}"

    excerpt = build_excerpt(text, parse_words("ferry"))

    assert "the ferries leave" in excerpt
    assert excerpt.startswith("… ")
    assert excerpt.endswith(" …")


@given(st.text(max_size=400), st.text(max_size=20))
def test_every_excerpt_is_one_short_line(text: str, query: str) -> None:
    excerpt = build_excerpt(text, parse_words(query))

    assert len(excerpt) <= MAX_EXCERPT_CHARS + 4
    assert len(excerpt.splitlines()) <= 1
