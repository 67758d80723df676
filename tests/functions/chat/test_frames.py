"""Frame protocol of released apps (P20)."""

import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.api.frames import (
    HEARTBEAT,
    MAX_FRAME_BYTES,
    encode,
    encode_done,
    encode_question,
    encode_status,
    encode_text,
)
from shared.domain.chats.chat import MAIN_SESSION, Card, Message
from shared.domain.chats.run import (
    AnswerText,
    AnswerWithdrawn,
    CitationShown,
    ConfirmationRequested,
    ConfirmationResolved,
    ReasoningText,
    RunEnded,
    RunEvent,
    Stage,
    Status,
    ToolEnded,
    ToolStarted,
    VoiceEnded,
    VoicesStarted,
)
from shared.domain.ids import AppId, ConversationId, MessageId
from tests.functions.chat.test_ui_messages import CONFIRMATION
from tests.old_app import parse_as_fixed_app, parse_as_old_app

TIME = datetime(2026, 3, 2, tzinfo=UTC)
MESSAGE = Message(
    id=MessageId("m1"), session_id=MAIN_SESSION, text="", sender="ai", created_at=TIME
)
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=3_000)
PIECES = st.lists(TEXT, max_size=5)
HEARTBEAT_PLACES = st.lists(st.integers(0), max_size=5)
DONE = json.dumps({"id": "m1", "text": "x" * 2_000}).encode()


def build_frames(pieces: list[str], beats: Sequence[int] = ()) -> list[bytes]:
    """Encode an answer with heartbeats between frames; nothing follows `done`."""
    encoded_frames = [encode_status(Status("Searching conversations", AppId("app1")))]
    for piece in pieces:
        encoded_frames += encode_text(piece)
    for place in beats:
        encoded_frames.insert(place % (len(encoded_frames) + 1), HEARTBEAT)
    return [*encoded_frames, encode_done(DONE)]


def split_at(data: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in pairwise(edges)]


@given(PIECES)
def test_every_frame_but_done_is_at_most_1000_bytes_p20(pieces: list[str]) -> None:
    assert all(len(frame) <= MAX_FRAME_BYTES for frame in build_frames(pieces)[:-1])


@given(PIECES, HEARTBEAT_PLACES, st.data())
def test_the_old_parser_reads_every_grouping_of_frames_and_heartbeats_p20(
    pieces: list[str], beats: list[int], data: st.DataObject
) -> None:
    encoded_frames = build_frames(pieces, beats)
    places = data.draw(st.lists(st.integers(0, len(encoded_frames) - 1), max_size=5))
    edges = sorted({0, len(encoded_frames) - 1, *places})
    chunks = [b"".join(encoded_frames[start:end]) for start, end in pairwise(edges)] + [
        encoded_frames[-1]
    ]

    shown = parse_as_old_app(chunks)

    assert (shown.text, shown.failed) == ("".join(pieces).replace("__CRLF__", "\n"), False)
    assert shown.done == json.loads(DONE)
    assert shown.statuses == ["Searching conversations|app_id:app1"]


@given(PIECES, HEARTBEAT_PLACES, st.lists(st.integers(0), max_size=20))
def test_the_fixed_parser_reads_every_byte_split_p20(
    pieces: list[str], beats: list[int], places: list[int]
) -> None:
    shown = parse_as_fixed_app(split_at(b"".join(build_frames(pieces, beats)), places))

    assert (shown.text, shown.failed) == ("".join(pieces).replace("__CRLF__", "\n"), False)
    assert shown.done == json.loads(DONE)


@given(st.text(st.characters(codec="utf-8"), max_size=3_000), PIECES)
def test_what_was_said_is_one_frame_that_both_parsers_read_before_the_answer_p22(
    text: str, pieces: list[str]
) -> None:
    question = encode_question(replace(MESSAGE, text=text), _encode_message)
    answer = [question, *build_frames(pieces)]
    old = parse_as_old_app([b"".join(answer[:-1]), answer[-1]])

    assert len(question) <= MAX_FRAME_BYTES
    assert old == parse_as_fixed_app(answer)
    assert old.question is not None
    shown = old.question["text"]
    assert shown == text or text.startswith(shown.removesuffix("…"))


def test_of_what_was_said_as_much_is_shown_as_a_frame_takes_p22() -> None:
    question = encode_question(replace(MESSAGE, text="Where are my keys? " * 100), _encode_message)

    assert len(question) > MAX_FRAME_BYTES - 20


def _encode_message(message: Message) -> bytes:
    return json.dumps({"id": message.id, "text": message.text}, ensure_ascii=False).encode()


async def test_old_frames_carry_only_text_statuses_and_the_end_x38() -> None:
    card = Card(id=ConversationId("c1"), created_at=TIME, title="Offsite", emoji="🚆")
    events: list[RunEvent] = [
        Stage("thinking"),
        ReasoningText("Hm"),
        Status("Searching"),
        ToolStarted(call_id="c", tool="search", arguments="{}"),
        ToolEnded(call_id="c", output="[1]"),
        ConfirmationRequested(CONFIRMATION),
        ConfirmationResolved(id="q1", decision="approved"),
        CitationShown(number=1, card=card),
        AnswerText("Friday[1]."),
        Stage("response_ready"),
        RunEnded(MESSAGE, "completed"),
    ]

    async def stream_events() -> AsyncGenerator[RunEvent, None]:
        for event in events:
            yield event

    encoded_frames = [frame async for frame in encode(stream_events(), lambda _: b"{}")]

    confirmation_frame = b"think: Waiting for your OK: send_mail|app_id:MAIL\n\n"
    assert encoded_frames == [
        b"think: Searching\n\n",
        confirmation_frame,
        b"data: Friday[1].\n\n",
        b"done: e30=\n\n",
    ]


@pytest.mark.parametrize("voices", [(), ("large", "small")])
async def test_nothing_is_sent_for_withdrawn_text_and_done_has_the_answer_n1(
    voices: tuple[str, ...],
) -> None:
    answer = replace(MESSAGE, text="On Friday.")
    events: list[RunEvent] = [
        *([VoicesStarted(voices)] if voices else []),
        AnswerText("Hm."),
        AnswerWithdrawn(3),
        ReasoningText("Hm."),
        AnswerText("On Friday."),
        *([VoiceEnded("completed")] if voices else []),
        RunEnded(answer, "completed"),
    ]

    async def stream_events() -> AsyncGenerator[RunEvent, None]:
        for event in events:
            yield event

    encoded = encode(stream_events(), lambda message: json.dumps({"text": message.text}).encode())
    shown = parse_as_old_app([frame async for frame in encoded])

    assert (shown.text, shown.failed) == ("Hm.On Friday.", False)
    assert shown.done == {"text": "On Friday."}


def test_a_newline_is_escaped_and_spaces_are_kept() -> None:
    assert list(encode_text(" a\n\nb ")) == [b"data:  a__CRLF____CRLF__b \n\n"]


def test_a_status_cannot_fake_another_app_id() -> None:
    frame = encode_status(Status("Done|app_id:bank", AppId("app1")))

    assert frame == b"think: Done bank|app_id:app1\n\n"


def test_an_overlong_status_is_cut_and_keeps_its_app() -> None:
    frame = encode_status(Status("é" * 2_000, AppId("app1")))

    assert len(frame) <= MAX_FRAME_BYTES
    assert frame.endswith("é|app_id:app1\n\n".encode())
