"""The old app's frames (P20)."""

import json
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.chat import MAIN_SESSION, Card, Message
from shared.domain.ids import AppId, ConversationId, MessageId
from shared.domain.run import (
    CitationShown,
    ConfirmationAsked,
    ConfirmationSettled,
    Ended,
    Reasoned,
    RunEvent,
    Said,
    Stage,
    Status,
    ToolEnded,
    ToolStarted,
)
from shared.edge.frames import (
    HEARTBEAT,
    MAX_FRAME_BYTES,
    done_frame,
    encode,
    status_frame,
    text_frames,
)
from tests.old_app import fixed_parser, old_parser
from tests.shared.edge.test_ui_messages import QUESTION

TIME = datetime(2026, 3, 2, tzinfo=UTC)
MESSAGE = Message(
    id=MessageId("m1"), session_id=MAIN_SESSION, text="", sender="ai", created_at=TIME
)
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=3_000)
PIECES = st.lists(TEXT, max_size=5)
BEATS = st.lists(st.integers(0), max_size=5)
DONE = json.dumps({"id": "m1", "text": "x" * 2_000}).encode()


def frames(pieces: list[str], beats: Sequence[int] = ()) -> list[bytes]:
    """Write an answer with heartbeats at some places; nothing ever follows `done`."""
    sent = [status_frame(Status("Searching conversations", AppId("app1")))]
    for piece in pieces:
        sent += text_frames(piece)
    for place in beats:
        sent.insert(place % (len(sent) + 1), HEARTBEAT)
    return [*sent, done_frame(DONE)]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in pairwise(edges)]


@given(PIECES)
def test_p20_every_frame_but_done_is_at_most_1000_bytes(pieces: list[str]) -> None:
    assert all(len(frame) <= MAX_FRAME_BYTES for frame in frames(pieces)[:-1])


@given(PIECES, BEATS, st.data())
def test_p20_the_old_parser_is_whole_for_every_grouping_of_frames_and_heartbeats(
    pieces: list[str], beats: list[int], data: st.DataObject
) -> None:
    sent = frames(pieces, beats)
    places = data.draw(st.lists(st.integers(0, len(sent) - 1), max_size=5))
    edges = sorted({0, len(sent) - 1, *places})
    chunks = [b"".join(sent[start:end]) for start, end in pairwise(edges)] + [sent[-1]]

    shown = old_parser(chunks)

    assert (shown.text, shown.failed) == ("".join(pieces).replace("__CRLF__", "\n"), False)
    assert shown.done == json.loads(DONE)
    assert shown.statuses == ["Searching conversations|app_id:app1"]


@given(PIECES, BEATS, st.lists(st.integers(0), max_size=20))
def test_p20_the_fixed_parser_is_whole_for_every_byte_split(
    pieces: list[str], beats: list[int], places: list[int]
) -> None:
    shown = fixed_parser(cut(b"".join(frames(pieces, beats)), places))

    assert (shown.text, shown.failed) == ("".join(pieces).replace("__CRLF__", "\n"), False)
    assert shown.done == json.loads(DONE)


async def test_x38_old_frames_show_nothing_but_words_statuses_and_the_end() -> None:
    card = Card(id=ConversationId("c1"), created_at=TIME, title="Offsite", emoji="🚆")
    events: list[RunEvent] = [
        Stage("thinking"),
        Reasoned("Hm"),
        Status("Searching"),
        ToolStarted(call_id="c", tool="search", arguments="{}"),
        ToolEnded(call_id="c", output="[1]"),
        ConfirmationAsked(QUESTION),
        ConfirmationSettled(id="q1", decision="approved"),
        CitationShown(number=1, card=card),
        Said("Friday[1]."),
        Stage("response_ready"),
        Ended(MESSAGE, "completed"),
    ]

    async def told() -> AsyncGenerator[RunEvent, None]:
        for event in events:
            yield event

    sent = [frame async for frame in encode(told(), lambda _: b"{}")]

    asked = b"think: Waiting for your OK: send_mail|app_id:MAIL\n\n"
    assert sent == [
        b"think: Searching\n\n",
        asked,
        b"data: Friday[1].\n\n",
        b"done: e30=\n\n",
    ]


def test_a_newline_is_escaped_and_spaces_are_kept() -> None:
    assert list(text_frames(" a\n\nb ")) == [b"data:  a__CRLF____CRLF__b \n\n"]


def test_a_status_cannot_pose_as_another_apps() -> None:
    frame = status_frame(Status("Done|app_id:bank", AppId("app1")))

    assert frame == b"think: Done bank|app_id:app1\n\n"


def test_an_overlong_status_is_cut_and_keeps_its_app() -> None:
    frame = status_frame(Status("é" * 2_000, AppId("app1")))

    assert len(frame) <= MAX_FRAME_BYTES
    assert frame.endswith("é|app_id:app1\n\n".encode())
