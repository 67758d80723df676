"""Citations (P17, X39, X40)."""

import re
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.context.citations import Citations, Cited, Markers, cite
from shared.domain.chat import Card
from shared.domain.ids import ConversationId


def card(name: str) -> Card:
    return Card(
        id=ConversationId(name), created_at=datetime(2026, 1, 1, tzinfo=UTC), title=name, emoji="🧠"
    )


CARDS = [card("a"), card("b"), card("c")]
ANSWERS = st.text(alphabet="ab [](0123456789,`\n", max_size=200)
PLACES = st.lists(st.integers(0, 200), max_size=20)


def given_out(cards: list[Card]) -> Citations:
    citations = Citations()
    for each in cards:
        citations.number(each)
    return citations


def streamed(pieces: list[str], citations: Citations) -> list[str]:
    markers = Markers(citations.mark)
    return [*map(markers.feed, pieces), markers.end()]


def answered(*pieces: str) -> Cited:
    citations = given_out(CARDS)
    return cite("".join(streamed([*pieces], citations)), citations.shown)


def split(text: str, places: list[int]) -> list[str]:
    edges = sorted({0, len(text), *(min(place, len(text)) for place in places)})
    return [text[start:end] for start, end in pairwise(edges)]


@pytest.mark.parametrize(
    ("answer", "text", "marked", "cited"),
    [
        ("We met[1].", "We met.", "We met[1].", "a"),
        ("We met [1].", "We met.", "We met[1].", "a"),
        ("Both[2][1] agree.", "Both agree.", "Both[1][2] agree.", "ba"),
        ("Both[2, 3].", "Both.", "Both[1][2].", "bc"),
        ("Twice[3] and[3].", "Twice and.", "Twice[1] and[1].", "c"),
        ("a[0] and [2024] and [100]", "a[0] and [2024] and [100]", None, ""),
        ("Unknown [4] and[99].", "Unknown and.", "Unknown and.", ""),
        ("One is known[1, 9].", "One is known.", "One is known[1].", "a"),
        ("Two [2][9] and [2024][1].", "Two and [2024].", "Two[1] and [2024][2].", "ba"),
        ("[1, 2024] is no citation", "[1, 2024] is no citation", None, ""),
        ("Use `x[1]` here[1].", "Use `x[1]` here.", "Use `x[1]` here[1].", "a"),
        ("Use ``x`[1]`` here[1].", "Use ``x`[1]`` here.", "Use ``x`[1]`` here[1].", "a"),
        ("A lone ` before[1]\nends[1].", "A lone ` before[1]\nends.", None, "a"),
        ("```\ny[2]`\n```\nSo[1].", "```\ny[2]`\n```\nSo.", "```\ny[2]`\n```\nSo[1].", "a"),
        ("```\nnever closed[1]", "```\nnever closed[1]", None, ""),
        ("See [1](https://x.example).", "See [1](https://x.example).", None, ""),
        ("Half [1", "Half [1", None, ""),
        ("Arabic [١] digits", "Arabic [١] digits", None, ""),
        ("", "", None, ""),
    ],
)
def test_p17_x39_only_numbers_that_were_given_out_are_citations(
    answer: str, text: str, marked: str | None, cited: str
) -> None:
    found = answered(answer)

    assert (found.text, found.marked_text) == (text, answer if marked is None else marked)
    assert "".join(one.id for one in found.cards) == cited


def test_p17_a_conversation_keeps_the_number_it_first_got() -> None:
    citations = Citations()

    numbers = [citations.number(card(name)) for name in "abacb"]

    assert numbers == [1, 2, 1, 3, 2]
    assert [one.id for one in citations.cards] == ["a", "b", "c"]


def test_where_nothing_was_given_out_nothing_is_a_citation() -> None:
    assert "".join(streamed(["First [1], then [2]."], Citations())) == "First [1], then [2]."


@given(ANSWERS, PLACES)
def test_x39_every_split_gives_the_same_text_and_the_same_citations(
    answer: str, places: list[int]
) -> None:
    assert answered(*split(answer, places)) == answered(answer)


@given(ANSWERS)
def test_x39_code_is_untouched(code: str) -> None:
    code = code.replace("`", "")

    block = f"```\n{code}\n```"
    span = f"`{code}`".replace("\n", " ")

    assert answered(block).text == answered(block).marked_text == block
    assert answered(span).text == answered(span).marked_text == span


@given(st.text(alphabet="ab []0123456789,", max_size=200))
def test_x40_cards_are_what_the_text_cites_in_order_of_first_use(answer: str) -> None:
    found = answered(
        re.sub(r"\[([\d, ]+)\]", r" [\1] ", answer)
    )  # apart: none joins its neighbours

    cited = [int(number) for number in re.findall(r"\[(\d\d?)\]", found.marked_text)]

    assert [*dict.fromkeys(n for n in cited if n)] == [*range(1, len(found.cards) + 1)]


@given(ANSWERS, PLACES)
def test_x39_a_piece_waits_for_less_than_64_characters(answer: str, places: list[int]) -> None:
    markers = Markers(lambda _: None)
    waiting = 0

    for piece in split(answer, places):
        waiting += len(piece) - len(markers.feed(piece))
        assert 0 <= waiting < 64

    assert len(markers.end()) == waiting


@given(st.lists(st.text(st.characters(exclude_characters="[` ")), max_size=5))
def test_x39_text_without_brackets_passes_at_once(pieces: list[str]) -> None:
    assert streamed(pieces, given_out(CARDS)) == [*pieces, ""]


@pytest.mark.parametrize("size", [1, 7, 1_000_000])
def test_hostile_text_takes_time_by_its_length_only(size: int) -> None:
    hostile = " " * 50_000 + "[1" * 50_000 + "`" * 50_001 + "\n" + "[1," * 50_000 + "x"
    pieces = [hostile[start : start + size] for start in range(0, len(hostile), size)]

    assert answered(*pieces) == Cited(text=hostile, marked_text=hostile, cards=())
