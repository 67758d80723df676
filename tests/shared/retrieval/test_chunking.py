"""How a transcript is cut."""

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.conversation import Segment
from shared.retrieval.chunking import PIECE_CHARS, chunks, line


def said(*texts: str) -> list[Segment]:
    return [Segment(text=text, speaker="Ann") for text in texts]


def test_each_turn_is_a_chunk_and_knows_its_speaker():
    first, second = chunks([*said("Hello"), Segment(text=" there ", is_user=True)])

    assert (first.segment, first.speaker, first.text) == (0, "Ann", "Hello")
    assert (second.segment, second.speaker, second.text) == (1, "User", "there")


def test_no_words_no_chunks():
    assert chunks([]) == chunks(said("", "  ")) == []


def test_silent_segments_are_counted_but_not_cut():
    assert [chunk.segment for chunk in chunks(said("", "a", " ", "b"))] == [1, 3]


def test_a_monologue_is_cut_within_its_segment():
    cut = chunks(said("word " * 2_000))

    assert {chunk.segment for chunk in cut} == {0}
    assert len(cut) > 9
    assert all(len(chunk.text) <= PIECE_CHARS for chunk in cut)


def test_the_owner_is_named_user():
    assert line(Segment(text=" Hi ", is_user=True)) == "User: Hi"


@given(st.lists(st.text("ab ", max_size=1_500), max_size=30))
def test_every_word_stands_in_a_chunk_of_its_segment(texts: list[str]):
    cut = chunks(said(*texts))

    for n, text in enumerate(texts):
        pieces = [chunk.text for chunk in cut if chunk.segment == n]
        assert "".join("".join(pieces).split()) == "".join(text.split())
    assert [chunk.segment for chunk in cut] == sorted(chunk.segment for chunk in cut)
