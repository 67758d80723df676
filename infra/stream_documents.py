"""Streams of the API document: what one event of each `text/event-stream` holds."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import anyio

from functions.chat.api import frames, ui_messages
from functions.chat.api.message_schemas import to_message_json
from functions.chat.api.notes_routes import NotesOut
from functions.chat.api.stream_schemas import UiChunk
from functions.imports.import_schemas import ImportProgressOut
from shared.domain.chats.chat import MAIN_SESSION, Message
from shared.domain.chats.run import (
    AnswerText,
    RunEnded,
    RunEvent,
    SequencedEvent,
    Stage,
    Status,
    ToolEnded,
    ToolStarted,
)
from shared.domain.ids import MessageId

MEDIA_TYPE = "text/event-stream"
FRAMES = (
    "Without `protocol`, frames of released apps, each followed by an empty line and of at most 1,000 "
    "bytes, but `done:`. `message:` is what was said, as base64 of a MessageOut as JSON, where the question "
    "came as sound. `think:` is a status; `|app_id:` and an id follow where an app does it. `data:` is "
    "the next piece of the answer, with `__CRLF__` for a new line; an empty one is a heartbeat. `done:` "
    "is the answer as base64 of a MessageOut as JSON; it comes last, and its text replaces the pieces."
)
UI_STREAM = (
    "With `protocol=ui-message-stream`, the stream of the AI SDK: each event is a UiChunk as JSON, the "
    "last one `[DONE]`. An `id:` closes what belongs together; `Last-Event-ID` resumes behind it. A line "
    "that begins with `:` is a heartbeat."
)

IMPORTS = (
    "Each event is an ImportProgressOut; the last one has a status that does not change by itself."
)
NOTES = "At most one event, a NotesOut; the stream ends without one where nothing comes in time."
MCP = (
    "Pings of a session of streamable HTTP, as comments; without a session MCP's older transport: first "
    "an event `endpoint`, whose data is where to send messages, then JSON-RPC answers."
)
SENTINEL: dict[str, Any] = {"const": "[DONE]"}
TEXT: dict[str, Any] = {"type": "string"}

Json = dict[str, Any]
Schemas = Mapping[tuple[Any, Any], Json]
EVENT_TYPES = (UiChunk, ImportProgressOut, NotesOut)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamDocument:
    """What a stream holds: a description, the type of its events where they are JSON, and examples."""

    descriptions: tuple[str, ...]
    event_type: Any = None
    other_data: Json = field(default_factory=lambda: TEXT)
    examples: Mapping[str, str] = field(default_factory=dict)


ANSWER = Message(
    id=MessageId("run1"),
    session_id=MAIN_SESSION,
    text="The offsite is\non Friday.",
    sender="ai",
    created_at=datetime(2026, 3, 2, 12, tzinfo=UTC),
)
EVENTS: Sequence[RunEvent] = (
    Stage("thinking"),
    Status("Searching in conversations"),
    ToolStarted(call_id="call1", tool="search_conversations", arguments='{"query": "offsite"}'),
    ToolEnded(call_id="call1", output="1 conversation"),
    Stage("answering"),
    AnswerText(ANSWER.text),
    Stage("response_ready"),
    RunEnded(ANSWER, "completed"),
)


async def _iterate() -> AsyncGenerator[SequencedEvent, None]:
    for seq, event in enumerate(EVENTS, 1):
        yield SequencedEvent(seq, event)


async def _render_ui() -> str:
    stream = ui_messages.encode(_iterate(), run_id="run1", encode_message=to_message_json)
    return b"".join([frame async for frame in stream]).decode()


async def _render_frames() -> str:
    events = (numbered.event async for numbered in _iterate())
    return b"".join([frame async for frame in frames.encode(events, to_message_json)]).decode()


UI_EXAMPLE = {"ui-message-stream": anyio.run(_render_ui)}
FRAMES_EXAMPLE = {"frames": anyio.run(_render_frames)}
UI = StreamDocument(
    descriptions=(UI_STREAM,), event_type=UiChunk, other_data=SENTINEL, examples=UI_EXAMPLE
)
STREAMS: Mapping[str, StreamDocument] = {
    "POST /v2/messages": StreamDocument(
        descriptions=(UI_STREAM, FRAMES), event_type=UiChunk, examples=UI_EXAMPLE | FRAMES_EXAMPLE
    ),
    "GET /v2/messages/{id}/stream": UI,
    "POST /v2/messages/{id}/versions": UI,
    "POST /v2/messages/{id}/resend": UI,
    "POST /v2/voice-messages": StreamDocument(descriptions=(FRAMES,), examples=FRAMES_EXAMPLE),
    "GET /v2/messages/{id}/notes/events": StreamDocument(
        descriptions=(NOTES,), event_type=NotesOut, other_data={"not": {}}
    ),
    "GET /v1/imports/{import_id}/events": StreamDocument(
        descriptions=(IMPORTS,), event_type=ImportProgressOut, other_data={"not": {}}
    ),
    "GET /v1/mcp/sse": StreamDocument(descriptions=(MCP,)),
}
"""By method and path."""


def build_stream_content(route: str, schemas: Schemas) -> Json:
    """Describe one event of a stream: OpenAPI 3.1 has no word for the whole of it."""
    stream = STREAMS[route]
    examples = {name: {"value": text} for name, text in stream.examples.items()}
    schema = {"description": " ".join(stream.descriptions), **_build_event(stream, schemas)}
    return {MEDIA_TYPE: {"schema": schema, **({"examples": examples} if examples else {})}}


def _build_event(stream: StreamDocument, schemas: Schemas) -> Json:
    data = stream.other_data
    if stream.event_type is not None:
        json_data = {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": schemas[stream.event_type, "serialization"],
        }
        data = {"anyOf": [json_data, data]}
    properties = {"data": data, "id": TEXT}
    return {"type": "object", "properties": properties, "required": ["data"]}
