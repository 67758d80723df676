"""Citations (P17, X39)."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.context.citations import Citations, cite
from shared.domain.chat import Card
from shared.domain.ids import ConversationId


def card(name: str) -> Card:
    return Card(
        id=ConversationId(name), created_at=datetime(2026, 1, 1, tzinfo=UTC), title=name, emoji="🧠"
    )


CARDS = [card("a"), card("b"), card("c")]


@pytest.mark.parametrize(
    ("answer", "text", "marked", "cited"),
    [
        ("We met[1].", "We met.", "We met[1].", "a"),
        ("We met [1].", "We met.", "We met[1].", "a"),
        ("Both[2][1] agree.", "Both agree.", "Both[1][2] agree.", "ba"),
        ("Both[2, 3].", "Both.", "Both[1][2].", "bc"),
        ("Twice[3] and[3].", "Twice and.", "Twice[1] and[1].", "c"),
        ("a[0] and [2024] and [4]", "a[0] and [2024] and [4]", "a[0] and [2024] and [4]", ""),
        ("Use `x[1]` here[1].", "Use `x[1]` here.", "Use `x[1]` here[1].", "a"),
        ("```\ny[2]\n```\nSo[1].", "```\ny[2]\n```\nSo.", "```\ny[2]\n```\nSo[1].", "a"),
        (
            "See [1](https://x.example).",
            "See [1](https://x.example).",
            "See [1](https://x.example).",
            "",
        ),
        ("Half [1", "Half [1", "Half [1", ""),
        ("[1, 9] stays", "[1, 9] stays", "[1, 9] stays", ""),
        ("", "", "", ""),
    ],
)
def test_p17_only_numbers_that_were_given_out_are_citations(
    answer: str, text: str, marked: str, cited: str
) -> None:
    found = cite(answer, CARDS)

    assert (found.text, found.marked_text) == (text, marked)
    assert "".join(one.id for one in found.cards) == cited


def test_p17_a_conversation_keeps_the_number_it_first_got() -> None:
    citations = Citations()

    numbers = [citations.number(card(name)) for name in "abacb"]

    assert numbers == [1, 2, 1, 3, 2]
    assert [one.id for one in citations.cards] == ["a", "b", "c"]


@given(st.text(alphabet="ab [](0123456789,`\n", max_size=200))
def test_marked_text_cites_exactly_its_cards_in_order_of_first_use(answer: str) -> None:
    found = cite(answer, CARDS)

    again = cite(found.marked_text, found.cards)

    assert again.cards == found.cards
    assert again.marked_text == found.marked_text


def test_a_megabyte_of_brackets_and_spaces_takes_no_time_worth_naming() -> None:
    hostile = " " * 200_000 + "[1" * 100_000 + "`" * 100_001 + "[1," * 100_000

    assert cite(hostile, CARDS).cards == ()
