"""Streams in any form: read without a failure of our own, and the same however their bytes are cut."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.models.model import ModelCallFinished, ModelEvent, TextDelta, ToolCallRequested
from shared.models.refusals import Refused
from shared.models.repetition import ends_in_repetition
from shared.models.stream import StreamReader
from tests.servers.quirks import QUIRKS
from tests.servers.quirky_openai import Received

SEARCH = "search_conversations"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "delta",
                    "message",
                    "content",
                    "tool_calls",
                    "function",
                    "name",
                    "arguments",
                    "index",
                    "id",
                    "usage",
                    "error",
                    "finish_reason",
                    "reasoning",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
QUESTION = {"role": "user", "content": "When does the plumber come?"}
BODY = {
    "messages": [QUESTION],
    "tools": [{"function": {"name": SEARCH, "parameters": {}}}],
    "stream": True,
    "model": "quirky-1",
}


def _read(pieces: list[bytes]) -> list[ModelEvent]:
    reader = StreamReader("m", names=[SEARCH])
    events = [event for piece in pieces for event in reader.feed(piece)]
    return [*events, *reader.flush()]


def _summarise(pieces: list[bytes]) -> object:
    """Return what a stream comes to, without where its texts are cut."""
    try:
        events = _read(pieces)
    except (ModelFailed, Unavailable, Refused) as error:
        return type(error)
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    return text, [event for event in events if isinstance(event, ToolCallRequested)], events[-1]


@given(st.lists(JSON, max_size=6), st.booleans())
def test_no_chunk_is_a_failure_of_ours_n1(chunks: list[object], is_ended: bool) -> None:  # noqa: FBT001 - drawn
    frames = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks]

    _summarise([*frames, b"data: [DONE]\n\n"] if is_ended else frames)


@given(st.binary(max_size=200))
def test_no_bytes_are_a_failure_of_ours_n1(content: bytes) -> None:
    _summarise([content])


STREAMED = [id_ for id_, quirk in QUIRKS.items() if "endless" not in id_ and not quirk.steps]


@pytest.mark.parametrize("size", [1, 3, 4_096])
def test_a_stream_reads_the_same_however_its_bytes_are_cut_n1(size: int) -> None:
    for id_ in STREAMED:
        received = Received(body=BODY, number=0, ask="question")
        reply = QUIRKS[id_].play(received)
        pieces = [*itertools.islice(reply.pieces, 400)]
        content = b"".join(pieces)
        if reply.status != 200 or len(content) > 20_000:
            continue
        cut = [content[start : start + size] for start in range(0, len(content), size)]

        assert _summarise(cut) == _summarise(pieces), id_


def test_every_stream_ends_once_n1() -> None:
    for id_ in STREAMED:
        reply = QUIRKS[id_].play(Received(body=BODY, number=0, ask="question"))
        if reply.status != 200:
            continue
        try:
            events = _read([*itertools.islice(reply.pieces, 400)])
        except (ModelFailed, Unavailable, Refused):
            continue
        assert [isinstance(event, ModelCallFinished) for event in events].count(True) == 1, id_
        assert isinstance(events[-1], ModelCallFinished), id_


@given(st.text(min_size=1, max_size=300), st.integers(5, 60))
def test_a_passage_said_without_end_is_noticed(passage: str, times: int) -> None:
    said = passage * (times * 1_200 // len(passage) + 5)

    assert ends_in_repetition(said[-4_000:])


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"| {n} | Ann | 9:{n:02} |\n" for n in range(200)),
        "".join(f"- [ ] Call number {n}\n" for n in range(200)),
        "ha" * 400,
        "The plumber comes. " * 50,
    ],
)
def test_a_table_a_list_and_a_long_laugh_are_no_repetition(text: str) -> None:
    assert not ends_in_repetition(text)


@pytest.mark.parametrize(("said", "shown"), [("", []), ("Half o", [TextDelta("f")])])
def test_a_held_word_is_shown_only_after_others_so_that_a_lost_question_is_asked_again_n1(
    said, shown
):
    reader = StreamReader("m", names=[SEARCH])
    for text in filter(None, (said, "f")):
        chunk = json.dumps({"choices": [{"delta": {"content": text}}]})
        reader.feed(f"data: {chunk}\n\n".encode())

    assert reader.give_up() == shown
