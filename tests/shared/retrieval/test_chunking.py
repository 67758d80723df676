"""How a transcript is cut."""

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.conversation import Segment
from shared.retrieval.chunking import PIECE_CHARS, chunks, line


def said(*texts: str) -> list[Segment]:
    return [Segment(text=text, speaker="Ann") for text in texts]


def ranges(segments: list[Segment]) -> list[tuple[int, int]]:
    return [(chunk.first_segment, chunk.last_segment) for chunk in chunks(segments)]


def test_chunks_are_four_turns_that_overlap_by_two():
    assert ranges(said(*"abcdefg")) == [(0, 3), (2, 5), (4, 6)]


def test_a_short_transcript_is_one_chunk():
    [chunk] = chunks(said("Hello", "there"))

    assert (chunk.first_segment, chunk.last_segment) == (0, 1)
    assert chunk.text == "Ann: Hello\nAnn: there"


def test_no_words_no_chunks():
    assert chunks([]) == chunks(said("", "  ")) == []


def test_silent_segments_are_counted_but_not_cut():
    assert ranges(said("", "a", " ", "b")) == [(1, 3)]


def test_a_monologue_is_cut_within_its_segment():
    monologue = said("word " * 2_000)

    assert set(ranges(monologue)) == {(0, 0)}
    assert len(chunks(monologue)) > 3
    assert all(len(chunk.text) <= 4 * (PIECE_CHARS + 1) for chunk in chunks(monologue))


def test_the_owner_is_named_user():
    assert line(Segment(text=" Hi ", is_user=True)) == "User: Hi"


@given(st.lists(st.text("ab ", max_size=1_500), max_size=30))
def test_every_word_stands_in_a_chunk_that_names_its_segment(texts: list[str]):
    segments = said(*texts)

    cut = chunks(segments)

    spoken = {n for n, text in enumerate(texts) if text.strip()}
    assert spoken <= {n for c in cut for n in range(c.first_segment, c.last_segment + 1)}
    assert [c.first_segment for c in cut] == sorted(c.first_segment for c in cut)
