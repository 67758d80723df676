"""Snippets: cut around what a search found, with the matching words apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.library.conversations.snippets import LEFT_OUT, WIDTH, collect_terms, cut_snippet

FILLER = "We talked about the garden and the weather for a long while. " * 20


def cut(text: str, query: str) -> tuple[str, list[str]]:
    """Return the snippet as text, and its marked words."""
    pieces = cut_snippet(text, collect_terms(query))
    return "".join(p.text for p in pieces), [p.text for p in pieces if p.is_match]


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("Two lakes, one Lake house", "lake HOUSE", ["lakes", "Lake", "house"]),
        ("The flakes of the lake", "lake", ["lake"]),
        ("She went there and is going again", "go", ["went", "going"]),
        ("A café and a cafe\u0301", "cafe", ["café", "cafe\u0301"]),
        ("Zürich im Frühling", "zurich frühling", ["Zürich", "Frühling"]),
        ("Room 7, not 17", "room 7", ["Room", "7"]),
        ("Ann’s keys", "ann", ["Ann’s"]),
        ("明日は京都へ行きます", "京都", ["京都"]),
        ("We like the rain", "walnuts", []),
    ],
)
def test_words_are_marked_as_the_search_sees_them_u7(
    text: str, query: str, marked: list[str]
) -> None:
    shown, found = cut(text, query)

    assert found == marked
    assert shown == (text if marked else "")


def test_a_long_text_is_cut_around_the_match_u7() -> None:
    shown, marked = cut(f"{FILLER}The spare key is with the bakery. {FILLER}", "bakery key")

    assert marked == ["key", "bakery"]
    assert shown.startswith(LEFT_OUT)
    assert shown.endswith(LEFT_OUT)
    assert len(shown) <= WIDTH + 2 * len(LEFT_OUT)


def test_the_place_with_most_of_the_words_is_shown() -> None:
    text = f"A key. {FILLER}A bakery. {FILLER}The bakery has the key."

    assert cut(text, "key bakery")[1] == ["bakery", "key"]


@given(text=st.text(max_size=600), query=st.text(max_size=40))
def test_every_snippet_is_a_part_of_its_text(text: str, query: str) -> None:
    shown, marked = cut(text, query)

    assert shown.removeprefix(LEFT_OUT).removesuffix(LEFT_OUT) in text
    assert bool(shown) == bool(marked)
