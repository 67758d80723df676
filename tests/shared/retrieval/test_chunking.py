"""Chunks of a transcript."""

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.conversations.conversation import Segment
from shared.domain.ids import PersonId
from shared.retrieval.chunking import MAX_PIECE_CHARS, format_turn, split_into_chunks


def build_segments(*texts: str) -> list[Segment]:
    return [Segment(text=text, speaker="Ann") for text in texts]


def test_each_turn_is_a_chunk_and_knows_its_speaker():
    first, second = split_into_chunks(
        [*build_segments("Hello"), Segment(text=" there ", is_user=True)]
    )

    assert (first.segment, first.speaker, first.text) == (0, "Ann", "Hello")
    assert (second.segment, second.speaker, second.text) == (1, "User", "there")


def test_a_transcript_without_words_has_no_chunks():
    assert split_into_chunks([]) == split_into_chunks(build_segments("", "  ")) == []


def test_silent_segments_are_numbered_but_give_no_chunk():
    assert [chunk.segment for chunk in split_into_chunks(build_segments("", "a", " ", "b"))] == [
        1,
        3,
    ]


def test_a_monologue_is_split_within_its_segment():
    pieces = split_into_chunks(build_segments("word " * 2_000))

    assert {chunk.segment for chunk in pieces} == {0}
    assert len(pieces) > 9
    assert all(len(chunk.text) <= MAX_PIECE_CHARS for chunk in pieces)


def test_a_known_person_stands_in_a_chunk_by_id_alone():
    segments = [Segment(text=text, speaker="Ann", person_id=text) for text in ("ann", "gone")]

    known, unknown = split_into_chunks(segments, {PersonId("ann")})

    assert (known.speaker, known.person_id) == ("", "ann")
    assert (unknown.speaker, unknown.person_id) == ("Ann", None)


def test_the_owner_is_named_user():
    assert format_turn(Segment(text=" Hi ", is_user=True)) == "User: Hi"


@given(st.lists(st.text("ab ", max_size=1_500), max_size=30))
def test_every_word_stands_in_a_chunk_of_its_segment(texts: list[str]):
    chunk_list = split_into_chunks(build_segments(*texts))

    for n, text in enumerate(texts):
        pieces = [chunk.text for chunk in chunk_list if chunk.segment == n]
        assert "".join("".join(pieces).split()) == "".join(text.split())
    assert [chunk.segment for chunk in chunk_list] == sorted(chunk.segment for chunk in chunk_list)
