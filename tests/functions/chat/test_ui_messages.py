"""UI message stream: chunks, resuming and the end of a run (X36, X38, X40, C80)."""

import json
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.api.ui_messages import encode
from shared.domain.chats.chat import MAIN_SESSION, Card, Message
from shared.domain.chats.confirmation import Confirmation
from shared.domain.chats.run import (
    AnswerText,
    AnswerWithdrawn,
    CitationShown,
    ConfirmationRequested,
    ConfirmationResolved,
    Outcome,
    ReasoningText,
    RouteChosen,
    RunEnded,
    RunEvent,
    SequencedEvent,
    Stage,
    Status,
    ToolEnded,
    ToolStarted,
    VoiceEnded,
    VoicesStarted,
)
from shared.domain.chats.voices import select_voice, tag_event
from shared.domain.ids import AppId, ConversationId, MessageId
from shared.domain.provenance import Source

TIME = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
CARD = Card(id=ConversationId("offsite"), created_at=TIME, title="Offsite", emoji="🚆")
MESSAGE = Message(
    id=MessageId("run1"), session_id=MAIN_SESSION, text="On Friday.", sender="ai", created_at=TIME
)


def message_json(message: Message) -> bytes:
    return json.dumps({"id": message.id, "text": message.text}).encode()


def build_metadata(turn_index: int, tab_index: int = 0, **fields: Any) -> dict[str, Any]:
    placement = {"turn_index": turn_index, "tab_index": tab_index, "voice": 0}
    return {"providerMetadata": {"keepsake": {**fields, "placement": placement}}}


def number_events(events: Sequence[RunEvent]) -> list[SequencedEvent]:
    return [SequencedEvent(seq, event) for seq, event in enumerate(events, 1)]


def encode_frames(events: Sequence[SequencedEvent], *, after_seq: int = 0) -> list[bytes]:
    async def stream_events() -> AsyncGenerator[SequencedEvent, None]:
        for event in events:
            yield event

    async def read() -> list[bytes]:
        stream = encode(
            stream_events(), run_id="run1", encode_message=message_json, after_seq=after_seq
        )
        return [frame async for frame in stream]

    return anyio.run(read)


def parse_chunks(stream: bytes) -> list[Any]:
    """Parse the stream as an EventSource does: lines without data are no event."""
    groups = stream.decode().split("\n\n")
    assert groups.pop() == ""
    lines = [group.partition("\n")[0] for group in groups]
    datas = [line.removeprefix("data: ") for line in lines if not line.startswith("id: ")]
    return [data if data == "[DONE]" else json.loads(data) for data in datas]


def encode_chunks(*events: RunEvent) -> list[Any]:
    return parse_chunks(b"".join(encode_frames(number_events(events))))


def test_a_run_is_encoded_as_steps_parts_tools_and_one_end_x38() -> None:
    lines = encode_chunks(
        Stage("thinking"),
        ReasoningText("Let me "),
        ReasoningText("look."),
        Stage("using_tools"),
        Status("Searching conversations", AppId("app1")),
        ToolStarted(call_id="c1", tool="search", arguments='{"query":"offsite"}'),
        ToolStarted(call_id="c2", tool="shop", arguments="{broken"),
        ToolEnded(call_id="c2", output="Error: closed", failed=True),
        ToolEnded(call_id="c1", output="[1] Offsite"),
        Stage("thinking"),
        Stage("answering"),
        AnswerText("On "),
        CitationShown(number=1, card=CARD),
        AnswerText("Friday[1]."),
        Stage("response_ready"),
        RunEnded(MESSAGE, "completed"),
    )

    flags = {"dynamic": True, "providerExecuted": True}
    metadata: dict[str, Any] = {
        "number": 1,
        "created_at": "2026-03-02T12:00:00Z",
        "emoji": "🚆",
    }
    assert lines == [
        {"type": "start", "messageId": "run1"},
        {"type": "start-step"},
        {"type": "data-stage", "data": {"name": "thinking"}, "transient": True},
        {"type": "reasoning-start", "id": "reasoning-1", **build_metadata(0)},
        {"type": "reasoning-delta", "id": "reasoning-1", "delta": "Let me "},
        {"type": "reasoning-delta", "id": "reasoning-1", "delta": "look."},
        {"type": "data-stage", "data": {"name": "using_tools"}, "transient": True},
        {
            "type": "data-status",
            "data": {"text": "Searching conversations", "app_id": "app1"},
            "transient": True,
        },
        {"type": "reasoning-end", "id": "reasoning-1"},
        {
            "type": "tool-input-available",
            "toolCallId": "c1",
            "toolName": "search",
            "input": {"query": "offsite"},
            **flags,
            **build_metadata(1),
        },
        {
            "type": "tool-input-available",
            "toolCallId": "c2",
            "toolName": "shop",
            "input": "{broken",
            **flags,
            **build_metadata(1, 1),
        },
        {"type": "tool-output-error", "toolCallId": "c2", "errorText": "Error: closed", **flags},
        {"type": "tool-output-available", "toolCallId": "c1", "output": "[1] Offsite", **flags},
        {"type": "finish-step"},
        {"type": "start-step"},
        {"type": "data-stage", "data": {"name": "thinking"}, "transient": True},
        {"type": "data-stage", "data": {"name": "answering"}, "transient": True},
        {"type": "text-start", "id": "text-2", **build_metadata(2)},
        {"type": "text-delta", "id": "text-2", "delta": "On "},
        {
            "type": "source-document",
            "sourceId": "offsite",
            "mediaType": "text/plain",
            "title": "Offsite",
            **build_metadata(2, **metadata),
        },
        {"type": "text-delta", "id": "text-2", "delta": "Friday[1]."},
        {"type": "data-stage", "data": {"name": "response_ready"}, "transient": True},
        {"type": "text-end", "id": "text-2"},
        {"type": "finish-step"},
        {"type": "data-message", "id": "run1", "data": {"id": "run1", "text": "On Friday."}},
        {"type": "finish", "messageMetadata": {"outcome": "completed"}},
        "[DONE]",
    ]


def test_a_tool_that_lacks_an_account_says_where_to_connect_it_t7() -> None:
    notes = Source(kind="app", id="A1", name="Notes")
    lines = encode_chunks(
        ToolEnded(
            call_id="c1",
            output="Error: connect first",
            failed=True,
            source=notes,
            connect_url="https://notes.example.com/connect?uid=ann",
        ),
        RunEnded(MESSAGE, "completed"),
    )

    data = {"url": "https://notes.example.com/connect?uid=ann", "name": "Notes"}
    assert {"type": "data-connect", "id": "c1", "data": data} in lines


@pytest.mark.parametrize(
    ("outcome", "terminal"),
    [
        ("completed", {"type": "finish", "messageMetadata": {"outcome": "completed"}}),
        ("limited", {"type": "finish", "messageMetadata": {"outcome": "limited"}}),
        ("stopped", {"type": "abort", "reason": "user_cancelled"}),
        ("interrupted", {"type": "error", "errorText": "The answer was interrupted."}),
        ("failed", {"type": "error", "errorText": "The answer failed."}),
    ],
)
def test_every_outcome_has_exactly_one_terminal_chunk(
    outcome: Outcome, terminal: dict[str, Any]
) -> None:
    lines = encode_chunks(AnswerText("Hi"), RunEnded(MESSAGE, outcome))

    assert lines[-3]["type"] == "data-message"
    assert lines[-2:] == [terminal, "[DONE]"]
    assert [line["type"] for line in lines[:-3]] == [
        "start",
        "text-start",
        "text-delta",
        "text-end",
    ]


def test_an_event_without_a_chunk_is_a_number_alone() -> None:
    """An event with empty data would be dispatched, and is no JSON."""
    frames = encode_frames(number_events([Stage("thinking"), RouteChosen("crisis", 2)]))

    assert frames[1] == b"id: 2\n\n"


def test_withdrawn_text_ends_its_part_and_a_part_says_how_much_is_void_n1() -> None:
    lines = encode_chunks(
        Stage("thinking"),
        AnswerText("I should "),
        AnswerText("answer 🚆."),
        AnswerWithdrawn(18),
        ReasoningText("I should answer 🚆."),
        AnswerText("On Friday."),
        RunEnded(MESSAGE, "completed"),
    )

    assert lines[3:12] == [
        {"type": "text-start", "id": "text-1", **build_metadata(0)},
        {"type": "text-delta", "id": "text-1", "delta": "I should "},
        {"type": "text-delta", "id": "text-1", "delta": "answer 🚆."},
        {"type": "text-end", "id": "text-1"},
        {"type": "data-answer-withdrawn", "data": {"chars": 18}},
        {"type": "reasoning-start", "id": "reasoning-2", **build_metadata(1)},
        {"type": "reasoning-delta", "id": "reasoning-2", "delta": "I should answer 🚆."},
        {"type": "reasoning-end", "id": "reasoning-2"},
        {"type": "text-start", "id": "text-3", **build_metadata(2)},
    ]


def test_an_abandoned_tool_call_is_reported_as_failed_x42() -> None:
    lines = encode_chunks(
        ToolStarted(call_id="c1", tool="search", arguments="{}"), RunEnded(MESSAGE, "stopped")
    )

    assert lines[2]["type"] == "tool-output-error"
    assert lines[2]["toolCallId"] == "c1"


@pytest.mark.parametrize("arguments", ["", "[" * 5_000, '{"n": NaN}', '"\\ud800"'])
def test_arguments_that_are_no_json_are_shown_as_they_stand(arguments: str) -> None:
    lines = encode_chunks(ToolStarted(call_id="c1", tool="search", arguments=arguments))

    assert lines[1]["input"] == arguments


def test_a_number_too_large_for_json_leaves_the_stream_valid() -> None:
    lines = encode_chunks(ToolStarted(call_id="c1", tool="search", arguments="[1e999]"))

    assert lines[1]["input"] == [None]


CALL_IDS = st.sampled_from(["c1", "c2"])
WORDS = st.text(st.characters(codec="utf-8"), max_size=20)
EVENTS: st.SearchStrategy[RunEvent] = st.one_of(
    st.builds(AnswerText, WORDS),
    st.builds(AnswerWithdrawn, st.integers(1, 9)),
    st.builds(ReasoningText, WORDS),
    st.builds(Status, WORDS),
    st.builds(Stage, st.sampled_from(["thinking", "using_tools", "answering"])),
    st.builds(ToolStarted, call_id=CALL_IDS, tool=st.just("search"), arguments=WORDS),
    st.builds(ToolEnded, call_id=CALL_IDS, output=WORDS, failed=st.booleans()),
    st.just(CitationShown(number=1, card=CARD)),
)
OUTCOMES = st.sampled_from(["completed", "limited", "stopped", "interrupted", "failed"])
VOICE_EVENTS = st.builds(tag_event, EVENTS, st.integers(0, 2))
RUNS = st.builds(
    lambda events, outcome: number_events([*events, RunEnded(MESSAGE, outcome)]),
    st.lists(EVENTS, max_size=20) | st.lists(VOICE_EVENTS, max_size=20),
    OUTCOMES,
)


@given(RUNS, st.data())
def test_a_resumed_stream_is_byte_for_byte_the_same_x36(
    run: list[SequencedEvent], data: st.DataObject
) -> None:
    whole = b"".join(encode_frames(run))
    place = data.draw(st.integers(0, len(whole)))

    received, last_seq = take_whole_events(whole[:place])
    rest = b"".join(encode_frames(run, after_seq=last_seq))

    assert received + rest == whole


def take_whole_events(received: bytes) -> tuple[bytes, int]:
    """Keep whole events, as a client that resumes after its last number does."""
    whole_events, last_seq, start = b"", 0, 0
    while (end := received.find(b"\n\n", start) + 2) >= 2:
        group = received[start:end]
        if b"\nid: " in group:
            whole_events, last_seq = received[:end], int(group.rpartition(b"\nid: ")[2])
        start = end
    return whole_events, last_seq


def merge_text(run: list[SequencedEvent]) -> Iterator[SequencedEvent]:
    """Join neighbouring pieces of text, as a reader that connects later sees them."""
    pending: SequencedEvent | None = None
    for item in run:
        if pending and isinstance(pending.event, AnswerText) and isinstance(item.event, AnswerText):
            pending = SequencedEvent(item.seq, AnswerText(pending.event.text + item.event.text))
            continue
        if pending:
            yield pending
        pending = item
    if pending:
        yield pending


@given(RUNS)
def test_merged_text_events_give_the_same_parts_and_ids(run: list[SequencedEvent]) -> None:
    split_stream, merged_stream = (
        b"".join(encode_frames(events)) for events in (run, [*merge_text(run)])
    )

    assert merge_deltas(parse_chunks(split_stream)) == merge_deltas(parse_chunks(merged_stream))


def merge_deltas(lines: list[Any]) -> list[Any]:
    """Join neighbouring deltas of one part."""
    parts: list[Any] = []
    for line in lines:
        is_delta = line != "[DONE]" and line["type"].endswith("-delta")
        if is_delta and parts and parts[-1]["type"] == line["type"]:
            parts[-1] = line | {"delta": parts[-1]["delta"] + line["delta"]}
        else:
            parts.append(line)
    return parts


@given(RUNS)
def test_every_started_part_and_tool_ends_with_the_run(
    run: list[SequencedEvent],
) -> None:
    lines = parse_chunks(b"".join(encode_frames(run)))[:-1]
    types = [line["type"] for line in lines]
    started_calls = {line["toolCallId"] for line in lines if line["type"] == "tool-input-available"}
    ended_calls = {line["toolCallId"] for line in lines if line["type"].startswith("tool-output")}

    for kind in ("text", "reasoning"):
        assert types.count(f"{kind}-start") == types.count(f"{kind}-end")
    assert types.count("start-step") == types.count("finish-step")
    assert started_calls <= ended_calls
    assert sum(type_ in ("finish", "abort", "error") for type_ in types) == 1


@given(RUNS)
def test_the_text_parts_add_up_to_the_answer_text(run: list[SequencedEvent]) -> None:
    lines = parse_chunks(b"".join(encode_frames(run)))[:-1]

    text = "".join(item.event.text for item in run if isinstance(item.event, AnswerText))

    assert "".join(line["delta"] for line in lines if line["type"] == "text-delta") == text


def drop_voice(chunk: dict[str, Any]) -> dict[str, Any]:
    """Return a chunk as another voice would have it."""
    text = json.dumps(chunk)
    return json.loads(re.sub(r'"voice": \d', '"voice": 0', text))  # type: ignore[no-any-return]


@given(st.lists(VOICE_EVENTS, max_size=20), OUTCOMES)
def test_the_stream_of_every_voice_is_that_of_a_run_of_its_own_x32(
    events: list[RunEvent], outcome: Outcome
) -> None:
    *lines, _ = encode_chunks(*events, RunEnded(MESSAGE, outcome))
    streams: dict[int, list[Any]] = {0: [], 1: [], 2: []}
    for line in lines:
        is_wrapped = line["type"] == "data-voice"
        voice, chunk = (line["data"]["voice"], line["data"]["chunk"]) if is_wrapped else (0, line)
        streams[voice].append(drop_voice(chunk))

    for voice, stream in streams.items():
        own_events = select_voice(events, voice)
        alone = encode_chunks(*own_events, RunEnded(MESSAGE, outcome))[:-1]
        expected = [line for line in alone if not voice or line["type"] != "data-message"]
        assert stream == (expected if own_events or not voice else [])


def test_a_voice_that_ends_early_says_so_at_once() -> None:
    lines = encode_chunks(
        VoicesStarted(("large", "small")),
        tag_event(AnswerText("Hi"), 1),
        tag_event(VoiceEnded("failed"), 1),
        VoiceEnded("completed"),
        RunEnded(MESSAGE, "completed"),
    )

    ends = [
        (line["data"]["voice"], line["data"]["chunk"]["type"])
        for line in lines[:-1]
        if line["type"] == "data-voice"
    ]
    assert lines[1] == {
        "type": "data-voices",
        "data": {"models": ["large", "small"]},
        "transient": True,
    }
    assert ends[-2:] == [(1, "error"), (0, "finish")]
    assert lines[-2]["type"] == "finish"


def test_a_long_answer_in_small_pieces_is_encoded_quickly() -> None:
    run = number_events([*[AnswerText("word ")] * 20_000, RunEnded(MESSAGE, "completed")])

    assert len(encode_frames(run)) == 20_001


CONFIRMATION = Confirmation(
    id="q1",
    call_id="c1",
    tool="send_mail",
    model_name="send_mail_1",
    pin="p1",
    source=Source(kind="app", id="MAIL", name="Mail"),
    maker="developer eve",
    arguments='{"to":"ann@example.com"}',
    reason="sensitive",
    allows_always=False,
    asked_at=TIME,
    expires_at=TIME,
)


def list_confirmation_chunks(*events: RunEvent) -> list[Any]:
    lines = [line for line in encode_chunks(*events) if line != "[DONE]"]
    return [line for line in lines if line["type"] == "data-confirmation"]


def test_a_confirmation_is_one_part_that_is_updated_with_its_decision_t11() -> None:
    asked_chunk, decided_chunk = list_confirmation_chunks(
        ConfirmationRequested(CONFIRMATION), ConfirmationResolved(id="q1", decision="approved")
    )

    assert asked_chunk == {
        "type": "data-confirmation",
        "id": "q1",
        "data": {
            "id": "q1",
            "call_id": "c1",
            "tool": "send_mail",
            "source": {"kind": "app", "id": "MAIL", "name": "Mail"},
            "question": "",
            "details": [],
            "arguments": {"to": "ann@example.com"},
            "maker": "developer eve",
            "reason": "sensitive",
            "allows_always": False,
            "expires_at": "2026-03-02T12:00:00Z",
            "state": "asked",
        },
    }
    assert decided_chunk == asked_chunk | {"data": asked_chunk["data"] | {"state": "approved"}}


def test_an_open_confirmation_expires_when_the_run_ends_t11() -> None:
    confirmation_chunks = list_confirmation_chunks(
        ConfirmationRequested(CONFIRMATION), RunEnded(MESSAGE, "stopped")
    )

    assert [line["data"]["state"] for line in confirmation_chunks] == ["asked", "expired"]
