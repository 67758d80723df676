"""Passages of pages: lines of a file together as far as they fit, no word lost or doubled (X13)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.files.file import Page
from shared.retrieval.page_passages import MAX_PASSAGE_CHARS, split_into_passages


def split(text: str) -> list[str]:
    return [passage.text for passage in split_into_passages([Page(number=1, text=text)])]


def test_lines_stay_as_they_stand_without_blank_ones_x13() -> None:
    assert split("  Rent\n\n \t\n900 a month  \n") == ["  Rent\n900 a month"]


@pytest.mark.parametrize(("length", "count"), [(500, 1), (501, 2)])
def test_a_passage_is_full_at_its_most_characters_x13(length: int, count: int) -> None:
    lines = ["a" * (MAX_PASSAGE_CHARS - 501), "b" * length]

    passages = split("\n".join(lines))

    assert len(passages) == count
    assert "\n".join(passages) == "\n".join(lines)


def test_after_a_full_passage_the_next_one_takes_as_much_x13() -> None:
    line = "x" * (MAX_PASSAGE_CHARS // 2 - 1)

    assert split("\n".join([line] * 5)) == [f"{line}\n{line}", f"{line}\n{line}", line]


@pytest.mark.parametrize(("length", "count"), [(MAX_PASSAGE_CHARS, 1), (MAX_PASSAGE_CHARS + 1, 2)])
def test_a_line_that_is_too_long_is_split_x13(length: int, count: int) -> None:
    assert len(split("x" * length)) == count


@given(st.lists(st.text("ab \n", max_size=1_500), max_size=4))
def test_every_word_stands_in_one_passage_of_its_page_x13(texts: list[str]) -> None:
    pages = [Page(number=number, text=text) for number, text in enumerate(texts, 1)]

    passages = split_into_passages(pages)

    assert all(0 < len(passage.text) <= MAX_PASSAGE_CHARS for passage in passages)
    for page in pages:
        pieces = [passage.text for passage in passages if passage.page == page.number]
        assert "".join("".join(pieces).split()) == "".join(page.text.split())
