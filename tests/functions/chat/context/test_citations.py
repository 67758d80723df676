"""Citations (P17, X39, X40)."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.context.citations import CitationRewriter, Citations, strip_markers
from functions.chat.context.numbering import Source
from shared.domain.chats.chat import Card, FilePage
from shared.domain.ids import ConversationId, FileId


def build_card(name: str) -> Card:
    return Card(
        id=ConversationId(name), created_at=datetime(2026, 1, 1, tzinfo=UTC), title=name, emoji="🧠"
    )


CARDS = [build_card("a"), build_card("b"), build_card("c")]
ANSWERS = st.text(alphabet="ab [](0123456789,`\n", max_size=200)
PLACES = st.lists(st.integers(0, 200), max_size=20)


def number_cards(cards: list[Card]) -> Citations:
    citations = Citations()
    for new_card in cards:
        citations.assign_number(new_card)
    return citations


def rewrite_pieces(pieces: list[str], citations: Citations) -> list[str]:
    rewriter = CitationRewriter(citations.render_marker)
    return [*map(rewriter.feed, pieces), rewriter.flush()]


@dataclass
class CitedText:
    text: str
    marked_text: str
    sources: list[Source]


def rewrite_answer(*pieces: str) -> CitedText:
    citations = number_cards(CARDS)
    marked_text = "".join(rewrite_pieces([*pieces], citations))
    text = strip_markers(marked_text, len(citations.shown))
    return CitedText(text=text, marked_text=marked_text, sources=citations.shown)


def split_text(text: str, places: list[int]) -> list[str]:
    edges = sorted({0, len(text), *(min(place, len(text)) for place in places)})
    return [text[start:end] for start, end in pairwise(edges)]


@pytest.mark.parametrize(
    ("answer", "text", "marked", "card_ids"),
    [
        ("We met[1].", "We met.", "We met[1].", "a"),
        ("We met [1].", "We met.", "We met[1].", "a"),
        ("Both[2][1] agree.", "Both agree.", "Both[1][2] agree.", "ba"),
        ("Both[2, 3].", "Both.", "Both[1][2].", "bc"),
        ("Twice[3] and[3].", "Twice and.", "Twice[1] and[1].", "c"),
        ("a[0] and [2024] and [100]", "a[0] and [2024] and [100]", None, ""),
        ("Press key [5] or [12].", "Press key [5] or [12].", None, ""),
        ("Press key [5][1].", "Press key [5].", "Press key [5][1].", "a"),
        ("One is unknown [1, 9].", "One is unknown [1, 9].", None, ""),
        ("Two [2][9] and [2024][1].", "Two[9] and [2024].", "Two[1][9] and [2024][2].", "ba"),
        ("[1, 2024] is no citation", "[1, 2024] is no citation", None, ""),
        ("Use `x[1]` here[1].", "Use `x[1]` here.", "Use `x[1]` here[1].", "a"),
        ("Use ``x`[1]`` here[1].", "Use ``x`[1]`` here.", "Use ``x`[1]`` here[1].", "a"),
        ("A lone ` before[1]\nends[1].", "A lone ` before[1]\nends.", None, "a"),
        ("Before 3` July[1].", "Before 3` July.", None, "a"),
        ("It`s so[1] in `x[1]`.", "It`s so in `x[1]`.", None, "a"),
        ("```\ny[2]`\n```\nSo[1].", "```\ny[2]`\n```\nSo.", "```\ny[2]`\n```\nSo[1].", "a"),
        ("```\nnever closed[1]", "```\nnever closed[1]", None, ""),
        ("See [1](https://x.example).", "See [1](https://x.example).", None, ""),
        ("Half [1", "Half [1", None, ""),
        ("Arabic [١] digits", "Arabic [١] digits", None, ""),
        ("", "", None, ""),
    ],
)
def test_only_numbers_of_known_cards_are_citations_p17_x39(
    answer: str, text: str, marked: str | None, card_ids: str
) -> None:
    cited_text = rewrite_answer(answer)

    assert (cited_text.text, cited_text.marked_text) == (text, answer if marked is None else marked)
    assert "".join(listed_card.id for listed_card in cited_text.sources) == card_ids


def test_a_conversation_keeps_the_number_it_first_got_p17() -> None:
    citations = Citations()

    numbers = [citations.assign_number(build_card(name)) for name in "abacb"]

    assert numbers == [1, 2, 1, 3, 2]
    assert [listed.id for listed in citations.numbering.sources.values()] == ["a", "b", "c"]


def test_without_cards_no_number_is_a_citation() -> None:
    assert "".join(rewrite_pieces(["First [1], then [2]."], Citations())) == "First [1], then [2]."


@given(ANSWERS, PLACES)
def test_every_split_gives_the_same_text_and_the_same_citations_x39(
    answer: str, places: list[int]
) -> None:
    assert rewrite_answer(*split_text(answer, places)) == rewrite_answer(answer)


def test_a_marker_that_arrives_in_two_pieces_is_a_citation_x39() -> None:
    answer = "Rome [2], then `````` Lisbon [1, 3] and Porto [3]."
    rewritten = rewrite_answer(answer)

    halves = [rewrite_answer(answer[:place], answer[place:]) for place in range(len(answer))]

    assert [source.id for source in rewritten.sources] == ["b", "a", "c"]
    assert halves == [rewritten] * len(answer)


@given(ANSWERS)
def test_code_is_untouched_x39(code: str) -> None:
    code = code.replace("`", "")

    block = f"```\n{code}\n```"
    span = f"`{code}`".replace("\n", " ")

    assert rewrite_answer(block).text == rewrite_answer(block).marked_text == block
    assert rewrite_answer(span).text == rewrite_answer(span).marked_text == span


@given(st.text(alphabet="ab []0123456789,", max_size=200))
def test_cards_are_ordered_by_their_first_citation_x40(answer: str) -> None:
    cited_text = rewrite_answer(
        re.sub(r"\[([\d, ]+)\]", r" [\1] ", answer)
    )  # apart: none joins its neighbours

    numbers = [int(number) for number in re.findall(r"\[(\d\d?)\]", cited_text.marked_text)]

    assert [*dict.fromkeys(n for n in numbers if 1 <= n <= len(CARDS))] == [
        *range(1, len(cited_text.sources) + 1)
    ]


@given(ANSWERS, PLACES)
def test_fewer_than_64_characters_are_pending_x39(answer: str, places: list[int]) -> None:
    rewriter = CitationRewriter(lambda _: None)
    pending_count = 0

    for piece in split_text(answer, places):
        pending_count += len(piece) - len(rewriter.feed(piece))
        assert 0 <= pending_count < 64

    assert len(rewriter.flush()) == pending_count


@given(st.lists(st.text(st.characters(exclude_characters="[` ")), max_size=5))
def test_text_without_brackets_passes_at_once_x39(pieces: list[str]) -> None:
    assert rewrite_pieces(pieces, number_cards(CARDS)) == [*pieces, ""]


@pytest.mark.parametrize("size", [1, 7, 1_000_000])
def test_hostile_text_is_rewritten_in_linear_time(size: int) -> None:
    hostile = " " * 50_000 + "[1" * 50_000 + "`" * 50_001 + "\n" + "[1," * 50_000 + "x"
    pieces = [hostile[start : start + size] for start in range(0, len(hostile), size)]

    assert rewrite_answer(*pieces) == CitedText(text=hostile, marked_text=hostile, sources=[])


def test_conversations_and_pages_of_files_share_their_numbers_x28() -> None:
    lease = FilePage(id=FileId("lease"), name="lease.pdf")
    third = FilePage(id=FileId("lease"), name="lease.pdf", page=3)
    citations = Citations()
    citations.assign_number(lease)

    numbers = [citations.assign_number(each) for each in (CARDS[0], third, lease, third)]
    marked_text = "".join(rewrite_pieces(["It ends[3][1], she says[2][3]. Not[4]."], citations))

    assert numbers == [2, 3, 1, 3]
    assert marked_text == "It ends[1][2], she says[3][1]. Not[4]."
    assert citations.shown == [third, lease, CARDS[0]]
    assert strip_markers(marked_text, len(citations.shown)) == "It ends, she says. Not[4]."
