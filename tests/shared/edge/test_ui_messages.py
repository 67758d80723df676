"""The UI message stream (X36, X38, X40, C80)."""

import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.chat import MAIN_SESSION, Card, Message
from shared.domain.confirmation import Confirmation
from shared.domain.ids import AppId, ConversationId, MessageId
from shared.domain.provenance import Source
from shared.domain.run import (
    CitationShown,
    ConfirmationAsked,
    ConfirmationSettled,
    Ended,
    Numbered,
    Outcome,
    Reasoned,
    RunEvent,
    Said,
    Stage,
    Status,
    ToolEnded,
    ToolStarted,
)
from shared.edge.ui_messages import encode

TIME = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
CARD = Card(id=ConversationId("offsite"), created_at=TIME, title="Offsite", emoji="🚆")
MESSAGE = Message(
    id=MessageId("run1"), session_id=MAIN_SESSION, text="On Friday.", sender="ai", created_at=TIME
)


def message_json(message: Message) -> bytes:
    return json.dumps({"id": message.id, "text": message.text}).encode()


def numbered(events: Sequence[RunEvent]) -> list[Numbered]:
    return [Numbered(seq, event) for seq, event in enumerate(events, 1)]


def frames(events: Sequence[Numbered], *, after: int = 0) -> list[bytes]:
    async def told() -> AsyncGenerator[Numbered, None]:
        for event in events:
            yield event

    async def read() -> list[bytes]:
        stream = encode(told(), run_id="run1", message_json=message_json, after=after)
        return [frame async for frame in stream]

    return anyio.run(read)


def chunks(stream: bytes) -> list[Any]:
    """Read it as an EventSource does."""
    groups = stream.decode().split("\n\n")
    assert groups.pop() == ""
    datas = [group.partition("\n")[0].removeprefix("data: ") for group in groups]
    return [data if data == "[DONE]" else json.loads(data) for data in datas]


def told(*events: RunEvent) -> list[Any]:
    return chunks(b"".join(frames(numbered(events))))


def test_x38_a_whole_run_is_steps_parts_tools_and_one_end() -> None:
    lines = told(
        Stage("thinking"),
        Reasoned("Let me "),
        Reasoned("look."),
        Stage("using_tools"),
        Status("Searching conversations", AppId("app1")),
        ToolStarted(call_id="c1", tool="search", arguments='{"query":"offsite"}'),
        ToolStarted(call_id="c2", tool="shop", arguments="{broken"),
        ToolEnded(call_id="c2", output="Error: closed", failed=True),
        ToolEnded(call_id="c1", output="[1] Offsite"),
        Stage("thinking"),
        Stage("answering"),
        Said("On "),
        CitationShown(number=1, card=CARD),
        Said("Friday[1]."),
        Stage("response_ready"),
        Ended(MESSAGE, "completed"),
    )

    ran = {"dynamic": True, "providerExecuted": True}
    ours = {"number": 1, "created_at": "2026-03-02T12:00:00Z", "emoji": "🚆"}
    assert lines == [
        {"type": "start", "messageId": "run1"},
        {"type": "start-step"},
        {"type": "data-stage", "data": {"name": "thinking"}, "transient": True},
        {"type": "reasoning-start", "id": "reasoning-1"},
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
            **ran,
        },
        {
            "type": "tool-input-available",
            "toolCallId": "c2",
            "toolName": "shop",
            "input": "{broken",
            **ran,
        },
        {"type": "tool-output-error", "toolCallId": "c2", "errorText": "Error: closed", **ran},
        {"type": "tool-output-available", "toolCallId": "c1", "output": "[1] Offsite", **ran},
        {"type": "finish-step"},
        {"type": "start-step"},
        {"type": "data-stage", "data": {"name": "thinking"}, "transient": True},
        {"type": "data-stage", "data": {"name": "answering"}, "transient": True},
        {"type": "text-start", "id": "text-2"},
        {"type": "text-delta", "id": "text-2", "delta": "On "},
        {
            "type": "source-document",
            "sourceId": "offsite",
            "mediaType": "text/plain",
            "title": "Offsite",
            "providerMetadata": {"keepsake": ours},
        },
        {"type": "text-delta", "id": "text-2", "delta": "Friday[1]."},
        {"type": "data-stage", "data": {"name": "response_ready"}, "transient": True},
        {"type": "text-end", "id": "text-2"},
        {"type": "finish-step"},
        {"type": "data-message", "id": "run1", "data": {"id": "run1", "text": "On Friday."}},
        {"type": "finish", "messageMetadata": {"outcome": "completed"}},
        "[DONE]",
    ]


def test_t7_a_tool_that_lacks_an_account_says_where_to_connect_it() -> None:
    notes = Source(kind="app", id="A1", name="Notes")
    lines = told(
        ToolEnded(
            call_id="c1",
            output="Error: connect first",
            failed=True,
            source=notes,
            connect_url="https://notes.example.com/connect?uid=ann",
        ),
        Ended(MESSAGE, "completed"),
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
    lines = told(Said("Hi"), Ended(MESSAGE, outcome))

    assert lines[-3]["type"] == "data-message"
    assert lines[-2:] == [terminal, "[DONE]"]
    assert [line["type"] for line in lines[:-3]] == [
        "start",
        "text-start",
        "text-delta",
        "text-end",
    ]


def test_x42_a_tool_that_never_came_back_is_told_as_failed() -> None:
    lines = told(
        ToolStarted(call_id="c1", tool="search", arguments="{}"), Ended(MESSAGE, "stopped")
    )

    assert lines[2]["type"] == "tool-output-error"
    assert lines[2]["toolCallId"] == "c1"


@pytest.mark.parametrize("arguments", ["", "[" * 5_000, '{"n": NaN}', '"\\ud800"'])
def test_arguments_that_are_no_json_are_shown_as_they_stand(arguments: str) -> None:
    lines = told(ToolStarted(call_id="c1", tool="search", arguments=arguments))

    assert lines[1]["input"] == arguments


def test_a_number_too_large_for_json_leaves_the_stream_valid() -> None:
    lines = told(ToolStarted(call_id="c1", tool="search", arguments="[1e999]"))

    assert lines[1]["input"] == [None]


CALL_IDS = st.sampled_from(["c1", "c2"])
WORDS = st.text(st.characters(codec="utf-8"), max_size=20)
EVENTS: st.SearchStrategy[RunEvent] = st.one_of(
    st.builds(Said, WORDS),
    st.builds(Reasoned, WORDS),
    st.builds(Status, WORDS),
    st.builds(Stage, st.sampled_from(["thinking", "using_tools", "answering"])),
    st.builds(ToolStarted, call_id=CALL_IDS, tool=st.just("search"), arguments=WORDS),
    st.builds(ToolEnded, call_id=CALL_IDS, output=WORDS, failed=st.booleans()),
    st.just(CitationShown(number=1, card=CARD)),
)
OUTCOMES = st.sampled_from(["completed", "limited", "stopped", "interrupted", "failed"])
RUNS = st.builds(
    lambda events, outcome: numbered([*events, Ended(MESSAGE, outcome)]),
    st.lists(EVENTS, max_size=20),
    OUTCOMES,
)


@given(RUNS, st.data())
def test_x36_any_cut_and_resume_is_byte_for_byte_the_whole(
    run: list[Numbered], data: st.DataObject
) -> None:
    whole = b"".join(frames(run))
    place = data.draw(st.integers(0, len(whole)))

    kept, last = kept_of(whole[:place])
    resumed = b"".join(frames(run, after=last))

    assert kept + resumed == whole


def kept_of(received: bytes) -> tuple[bytes, int]:
    """Keep whole events, as a client does that goes by the last number it has."""
    kept, last, start = b"", 0, 0
    while (end := received.find(b"\n\n", start) + 2) >= 2:
        group = received[start:end]
        if b"\nid: " in group:
            kept, last = received[:end], int(group.rpartition(b"\nid: ")[2])
        start = end
    return kept, last


def joined(run: list[Numbered]) -> Iterator[Numbered]:
    """Join all neighbouring pieces of text, as a reader does that comes late."""
    kept: Numbered | None = None
    for each in run:
        if kept and isinstance(kept.event, Said) and isinstance(each.event, Said):
            kept = Numbered(each.seq, Said(kept.event.text + each.event.text))
            continue
        if kept:
            yield kept
        kept = each
    if kept:
        yield kept


@given(RUNS)
def test_however_text_is_joined_the_parts_and_their_ids_are_the_same(run: list[Numbered]) -> None:
    apart, together = (b"".join(frames(events)) for events in (run, [*joined(run)]))

    assert whole_parts(chunks(apart)) == whole_parts(chunks(together))


def whole_parts(lines: list[Any]) -> list[Any]:
    """Join neighbouring deltas of one part."""
    parts: list[Any] = []
    for line in lines:
        delta = line != "[DONE]" and line["type"].endswith("-delta")
        if delta and parts and parts[-1]["type"] == line["type"]:
            parts[-1] = line | {"delta": parts[-1]["delta"] + line["delta"]}
        else:
            parts.append(line)
    return parts


@given(RUNS)
def test_every_part_and_every_tool_that_began_has_ended_when_the_run_has(
    run: list[Numbered],
) -> None:
    lines = chunks(b"".join(frames(run)))[:-1]
    types = [line["type"] for line in lines]
    started = {line["toolCallId"] for line in lines if line["type"] == "tool-input-available"}
    ended = {line["toolCallId"] for line in lines if line["type"].startswith("tool-output")}

    for kind in ("text", "reasoning"):
        assert types.count(f"{kind}-start") == types.count(f"{kind}-end")
    assert types.count("start-step") == types.count("finish-step")
    assert started <= ended
    assert sum(type_ in ("finish", "abort", "error") for type_ in types) == 1


@given(RUNS)
def test_the_text_parts_are_what_was_said(run: list[Numbered]) -> None:
    lines = chunks(b"".join(frames(run)))[:-1]

    said = "".join(each.event.text for each in run if isinstance(each.event, Said))

    assert "".join(line["delta"] for line in lines if line["type"] == "text-delta") == said


def test_a_long_answer_in_small_pieces_takes_no_time_worth_naming() -> None:
    run = numbered([*[Said("word ")] * 20_000, Ended(MESSAGE, "completed")])

    assert len(frames(run)) == 20_001


QUESTION = Confirmation(
    id="q1",
    call_id="c1",
    tool="send_mail",
    source=Source(kind="app", id="MAIL", name="Mail"),
    arguments='{"to":"ann@example.com"}',
    reason="not_said",
    argument="to",
    asked_at=TIME,
    expires_at=TIME,
)


def questions(*events: RunEvent) -> list[Any]:
    lines = [line for line in told(*events) if line != "[DONE]"]
    return [line for line in lines if line["type"] == "data-confirmation"]


def test_t11_a_question_is_one_part_that_comes_again_with_what_became_of_it() -> None:
    asked, settled = questions(
        ConfirmationAsked(QUESTION), ConfirmationSettled(id="q1", decision="approved")
    )

    assert asked == {
        "type": "data-confirmation",
        "id": "q1",
        "data": {
            "id": "q1",
            "call_id": "c1",
            "tool": "send_mail",
            "source": {"kind": "app", "id": "MAIL", "name": "Mail"},
            "arguments": {"to": "ann@example.com"},
            "reason": "not_said",
            "argument": "to",
            "expires_at": "2026-03-02T12:00:00Z",
            "state": "asked",
        },
    }
    assert settled == asked | {"data": asked["data"] | {"state": "approved"}}


def test_t11_a_question_that_was_open_when_the_run_ended_is_told_as_expired() -> None:
    told = questions(ConfirmationAsked(QUESTION), Ended(MESSAGE, "stopped"))

    assert [line["data"]["state"] for line in told] == ["asked", "expired"]
