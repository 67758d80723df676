"""UI message stream and its description: the API document knows every chunk, and no other (M132)."""

import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import anyio
import jsonschema_rs
import pytest
from hypothesis import given

from functions.chat.api.message_schemas import to_message_json
from functions.chat.api.run_streams import build_history_request_chunks
from functions.chat.api.ui_messages import encode
from infra.openapi import build_document
from shared.domain.chats.chart import Chart, DataPoint, Dataset
from shared.domain.chats.chat import FileCitation, FilePage
from shared.domain.chats.embed import EmbedRef
from shared.domain.chats.library_change import LibraryChange
from shared.domain.chats.run import (
    AnswerText,
    AnswerWithdrawn,
    ChartShown,
    CitationShown,
    ConfirmationRequested,
    ConfirmationResolved,
    EmbedShown,
    EmbedsRequested,
    FileCited,
    LibraryChanged,
    MemoriesListed,
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
    VoiceEvent,
    VoicesStarted,
)
from shared.domain.chats.sealed_chat import HistoryRequest
from shared.domain.conversations.daily_summary import DailySummarySettings
from shared.domain.ids import EmbedId, FileId, RunId, SessionId
from shared.domain.provenance import Source
from tests.fixtures.stream_schema import check_chunk
from tests.functions.chat.test_ui_messages import CARD, CONFIRMATION, MESSAGE, RUNS, parse_chunks

CHART = Chart(
    chart_type="bar",
    title="Walks",
    datasets=(Dataset(label="Steps", data_points=(DataPoint(label="Monday", value=8_200),)),),
)
CHANGE = LibraryChange(
    id="x1", text="Daily summary off", before=None, after=DailySummarySettings(enabled=False)
)
NOTION = Source(kind="service", id="notion", name="Notion")
EMBED = EmbedRef(
    id=EmbedId("e1"),
    type="tool_result",
    call_id="c2",
    preview="Boots",
    content_hash="0" * 64,
    length=2,
    source=NOTION,
    embed_ids=(EmbedId("e2"),),
)
EVENTS: Sequence[RunEvent] = (
    VoicesStarted(("small", "large")),
    VoiceEvent(1, AnswerText("Hello.")),
    Stage("thinking"),
    ReasoningText("Let me look."),
    Status("Searching"),
    RouteChosen("crisis", 2),
    MemoriesListed(items=("memory:m1",)),
    ConfirmationRequested(CONFIRMATION),
    ConfirmationResolved(id="q1", decision="approved"),
    ToolStarted(call_id="c1", tool="search", arguments="{broken"),
    ToolEnded(call_id="c1", output="Not connected", source=NOTION, connect_url="https://a.example"),
    ToolStarted(call_id="c2", tool="shop", arguments='{"n": [1]}'),
    ToolEnded(call_id="c2", output="Closed", failed=True),
    LibraryChanged(CHANGE),
    ChartShown(CHART),
    EmbedShown(EMBED),
    EmbedsRequested((EmbedId("e9"),)),
    CitationShown(number=1, card=CARD),
    FileCited(FileCitation(number=2, file=FilePage(id=FileId("f1"), name="plan.pdf", page=3))),
    AnswerText("I should say On Friday."),
    AnswerWithdrawn(13),
    VoiceEnded("completed"),
)


HISTORY_REQUEST = HistoryRequest(
    id=RunId("sealed-c1-r1"),
    session_id=SessionId("sealed-c1"),
    reason="cache_miss",
    fingerprint="",
    created_at=MESSAGE.created_at,
)


def encode_run(*numbered: SequencedEvent) -> list[Any]:
    async def iterate() -> AsyncGenerator[SequencedEvent, None]:
        for item in numbered:
            yield item

    async def read() -> bytes:
        stream = encode(iterate(), run_id="run1", encode_message=to_message_json)
        return b"".join([frame async for frame in stream])

    *chunks, sentinel = parse_chunks(anyio.run(read))
    assert sentinel == "[DONE]"
    return chunks


def check_chunks(chunks: Sequence[Any]) -> None:
    assert chunks
    for chunk in chunks:
        check_chunk(chunk)


@pytest.mark.parametrize("outcome", ["completed", "limited", "stopped", "interrupted", "failed"])
def test_every_event_is_described_m132(outcome: Outcome) -> None:
    events = [*EVENTS, RunEnded(MESSAGE, outcome)]

    check_chunks(encode_run(*(SequencedEvent(n, event) for n, event in enumerate(events, 1))))


def test_nothing_is_described_that_no_event_becomes_m132() -> None:
    schema = build_document()["components"]["schemas"]["UiChunk"]
    outcomes: tuple[Outcome, ...] = ("completed", "stopped", "failed")
    chunks = [
        chunk
        for outcome in outcomes
        for chunk in encode_run(
            *(SequencedEvent(seq, event) for seq, event in enumerate(EVENTS, 1)),
            SequencedEvent(99, RunEnded(MESSAGE, outcome)),
        )
    ]

    chunks += build_history_request_chunks(HISTORY_REQUEST)
    assert {chunk["type"] for chunk in chunks} == set(schema["discriminator"]["mapping"])


def test_a_request_for_messages_is_described_m132() -> None:
    check_chunks(build_history_request_chunks(HISTORY_REQUEST))


@given(RUNS)
def test_every_run_keeps_to_the_document_m132(run: list[SequencedEvent]) -> None:
    check_chunks(encode_run(*run))


@pytest.mark.parametrize(
    "chunk",
    [
        {"type": "start"},
        {"type": "start", "messageId": "run1", "extra": 1},
        {"type": "data-unknown", "data": {}},
        {"type": "finish", "messageMetadata": {"outcome": "lost"}},
        "[DONE]",
    ],
)
def test_what_is_not_described_is_found_m132(chunk: object) -> None:
    with pytest.raises(jsonschema_rs.ValidationError):
        check_chunk(json.loads(json.dumps(chunk)))
