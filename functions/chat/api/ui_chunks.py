"""Chunks of a UI message stream: what each event of one voice becomes."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from pydantic_core import from_json

from shared.domain.chats.chart import Chart
from shared.domain.chats.chat import Message
from shared.domain.chats.confirmation import Confirmation
from shared.domain.chats.embed import EmbedRef
from shared.domain.chats.placement import Placement, PlacementCounter
from shared.domain.chats.run import (
    AnswerExtended,
    AnswerText,
    AnswerWithdrawn,
    ChartShown,
    CitationShown,
    ConfirmationRequested,
    ConfirmationResolved,
    DocumentsGiven,
    EmbedShown,
    EmbedsRequested,
    FileCited,
    LibraryChanged,
    MemoriesListed,
    Outcome,
    ReasoningText,
    RouteChosen,
    RunEnded,
    Stage,
    Status,
    ToolEnded,
    ToolStarted,
)

EMBEDS_PATH = "/v2/embeds"
TOOL_ABANDONED = "The answer ended before this tool did."
_ERROR_TEXTS: Mapping[Outcome, str] = {
    "failed": "The answer failed.",
    "interrupted": "The answer was interrupted.",
}

Chunk = dict[str, Any]
_ProgressEvent = (
    Stage
    | Status
    | AnswerWithdrawn
    | ToolStarted
    | ToolEnded
    | LibraryChanged
    | ChartShown
    | EmbedShown
    | EmbedsRequested
    | CitationShown
    | FileCited
)
_AnswerEvent = (
    _ProgressEvent
    | AnswerText
    | ReasoningText
    | ConfirmationRequested
    | ConfirmationResolved
    | RouteChosen
    | MemoriesListed
    | DocumentsGiven
    | RunEnded
    | AnswerExtended
)
MessageEncoder = Callable[[Message], bytes]


class ChunkBuilder:
    """Builds the chunks of one voice, event by event."""

    def __init__(self, run_id: str, encode_message: MessageEncoder, voice: int = 0) -> None:
        self.has_ended = False
        self._run_id = run_id
        self._encode_message = encode_message
        self._voice = voice
        self._counter = PlacementCounter(voice)
        self._has_started = False
        self._is_in_step = False
        self._open_part: str | None = None
        self._part_count = 0
        self._running_calls: dict[str, None] = {}
        self._pending_confirmations: dict[str, Confirmation] = {}

    def start(self) -> Iterator[Chunk]:
        """Begin the stream, once."""
        if not self._has_started:
            self._has_started = True
            yield {"type": "start", "messageId": self._run_id}

    def build_chunks(self, event: _AnswerEvent) -> Iterator[Chunk]:
        yield from self.start()
        placement = self._counter.place(event)
        match event:
            case AnswerText(text):
                yield from self._add_text("text", text, placement)
            case ReasoningText(text):
                yield from self._add_text("reasoning", text, placement)
            case RunEnded() | AnswerExtended():
                yield from self._end_run(event, placement)
            case ConfirmationRequested(confirmation) if confirmation.channel == "reply":
                pass  # the answer ends with the question as text
            case RouteChosen() | MemoriesListed() | DocumentsGiven():
                pass  # for the stored message alone
            case ConfirmationRequested(confirmation):
                yield from self.close_part()
                self._pending_confirmations[confirmation.id] = confirmation
                yield _build_confirmation_chunk(confirmation, "asked")
            case ConfirmationResolved(id=confirmation_id, decision=decision):
                yield _build_confirmation_chunk(
                    self._pending_confirmations.pop(confirmation_id), decision
                )
            case _:
                yield from self._add_progress(event, placement)

    def _add_text(self, kind: str, text: str, placement: Placement) -> Iterator[Chunk]:
        """Add to the open part if it is of this kind, else open a new one."""
        if self._open_part is None or not self._open_part.startswith(kind):
            yield from self.close_part()
            self._part_count += 1
            self._open_part = f"{kind}-{self._part_count}"
            start = {"type": f"{kind}-start", "id": self._open_part}
            yield start | _build_metadata(placement)
        yield {"type": f"{kind}-delta", "id": self._open_part, "delta": text}

    def close_part(self) -> Iterator[Chunk]:
        """End the text or the reasoning that is open, if any."""
        if self._open_part is not None:
            kind, _, _ = self._open_part.partition("-")
            yield {"type": f"{kind}-end", "id": self._open_part}
            self._open_part = None

    def _add_progress(
        self,
        event: _ProgressEvent,
        placement: Placement,
    ) -> Iterator[Chunk]:
        match event:
            case Stage("thinking"):
                yield from self._end_step()
                self._is_in_step = True
                yield {"type": "start-step"}
            case AnswerWithdrawn():
                yield from self.close_part()
            case ToolStarted(call_id=call_id):
                yield from self.close_part()
                self._running_calls[call_id] = None
            case ToolEnded(call_id=call_id):
                self._running_calls.pop(call_id, None)
        yield _to_chunk(event, placement)
        if isinstance(event, ToolEnded) and event.connect_url:
            yield _build_connect_chunk(event, event.connect_url)

    def _end_step(self) -> Iterator[Chunk]:
        """End the step: one model call with its tools."""
        yield from self.close_part()
        if self._is_in_step:
            self._is_in_step = False
            yield {"type": "finish-step"}

    def end_voice(self, outcome: Outcome) -> Iterator[Chunk]:
        """End a voice; the stream of the first one goes on until the run ends."""
        self.has_ended = True
        yield from self.start()
        yield from self._end_parts()
        chunk = _build_terminal_chunk(outcome)
        yield chunk if self._voice else wrap_chunk(chunk, self._voice)

    def _end_parts(self) -> Iterator[Chunk]:
        yield from self.close_part()
        for call_id in self._running_calls:
            yield _build_tool_end_chunk(
                ToolEnded(call_id=call_id, output=TOOL_ABANDONED, failed=True)
            )
        self._running_calls = {}
        for confirmation in self._pending_confirmations.values():
            yield _build_confirmation_chunk(confirmation, "expired")
        yield from self._end_step()

    def _end_run(self, event: RunEnded | AnswerExtended, placement: Placement) -> Iterator[Chunk]:
        """Send the whole message; what joins it later sends it again, in the place of the first."""
        if isinstance(event, AnswerExtended):
            yield from self._add_text("text", event.text, placement)
        yield from self._end_parts()
        message = from_json(self._encode_message(event.message))
        yield {"type": "data-message", "id": event.message.id, "data": message}
        if isinstance(event, RunEnded):
            yield _build_terminal_chunk(event.outcome)


def wrap_chunk(chunk: Chunk, voice: int) -> Chunk:
    """Return a chunk as a part that clients of the plain protocol pass by."""
    return {"type": "data-voice", "data": {"voice": voice, "chunk": chunk}, "transient": True}


def _to_chunk(
    event: _ProgressEvent,
    placement: Placement,
) -> Chunk:
    match event:
        case Stage(name):
            return {"type": "data-stage", "data": {"name": name}, "transient": True}
        case Status(text, app_id):
            data = {"text": text, "app_id": app_id}
            return {"type": "data-status", "data": data, "transient": True}
        case ToolStarted():
            return _build_tool_chunk("input-available", event.call_id) | {
                "toolName": event.tool,
                "input": parse_input(event.arguments),
                **_build_metadata(placement),
            }
        case ToolEnded():
            return _build_tool_end_chunk(event)
        case AnswerWithdrawn() | LibraryChanged() | ChartShown() | EmbedShown() | EmbedsRequested():
            return _build_data_part(event)
        case CitationShown() | FileCited():
            return _build_source(event, placement)


def _build_source(event: CitationShown | FileCited, placement: Placement) -> Chunk:
    """Build what a number of the answer stands for: a conversation, or a file with its page."""
    if isinstance(event, FileCited):
        number, file = event.citation.number, event.citation.file
        source = {"sourceId": file.id, "title": file.name, "filename": file.name}
        metadata: dict[str, Any] = {"kind": "file", "number": number, "page": file.page}
        media_type = "application/octet-stream"
    else:
        card, media_type = event.card, "text/plain"
        source = {"sourceId": card.id, "title": card.title}
        metadata = {"number": event.number, "created_at": card.created_at, "emoji": card.emoji}
    return {
        "type": "source-document",
        "mediaType": media_type,
        **source,
        **_build_metadata(placement, **metadata),
    }


def _build_metadata(placement: Placement, **fields: Any) -> Chunk:
    """Build the fields of ours that a client keeps with a part."""
    return {"providerMetadata": {"keepsake": {**fields, "placement": asdict(placement)}}}


def _build_tool_end_chunk(event: ToolEnded) -> Chunk:
    if event.failed:
        return _build_tool_chunk("output-error", event.call_id) | {"errorText": event.output}
    return _build_tool_chunk("output-available", event.call_id) | {"output": event.output}


def _build_connect_chunk(event: ToolEnded, url: str) -> Chunk:
    name = event.source.name if event.source else None
    return {"type": "data-connect", "id": event.call_id, "data": {"url": url, "name": name}}


def _build_confirmation_chunk(confirmation: Confirmation, state: str) -> Chunk:
    """Build the part of a confirmation; it is sent again, under the same id, when it is resolved."""
    data = {
        "id": confirmation.id,
        "call_id": confirmation.call_id,
        "tool": confirmation.tool,
        "source": {
            "kind": confirmation.source.kind,
            "id": confirmation.source.id,
            "name": confirmation.source.name,
        },
        "question": confirmation.question,
        "details": list(confirmation.details),
        "arguments": parse_input(confirmation.arguments),
        "maker": confirmation.maker,
        "reason": confirmation.reason,
        "allows_always": confirmation.allows_always,
        "expires_at": confirmation.expires_at,
        "state": state,
    }
    return {"type": "data-confirmation", "id": confirmation.id, "data": data}


def _build_data_part(
    event: AnswerWithdrawn | LibraryChanged | ChartShown | EmbedShown | EmbedsRequested,
) -> Chunk:
    """Build a part of ours; clients keep all but requests with the answer."""
    if isinstance(event, AnswerWithdrawn):
        return {"type": "data-answer-withdrawn", "data": {"chars": event.chars}}
    if isinstance(event, EmbedsRequested):
        requested = {"embed_ids": list(event.ids)}
        return {"type": "data-request-embeds", "data": requested, "transient": True}
    if isinstance(event, EmbedShown):
        return build_embed_part(event.ref)
    if isinstance(event, ChartShown):
        return build_chart_part(event.chart)
    change = event.change
    data = {"id": change.id, "text": change.text, "state": "done"}
    return {"type": "data-change", "id": change.id, "data": data}


def build_chart_part(chart: Chart) -> Chunk:
    """Build the part of a chart; a later one of the same answer takes its place."""
    return {"type": "data-chart", "id": "chart", "data": asdict(chart)}


def build_embed_part(ref: EmbedRef) -> Chunk:
    """Build the part by which a client shows what a tool returned, and loads it."""
    data = {
        "embed_id": ref.id,
        "type": ref.type,
        "call_id": ref.call_id,
        "content_ref": f"{EMBEDS_PATH}/{ref.id}",
        "content_hash": ref.content_hash,
        "length": ref.length,
        "preview": ref.preview,
        "version": ref.version,
        "embed_ids": None if ref.embed_ids is None else list(ref.embed_ids),
        "source": asdict(ref.source),
    }
    return {"type": "data-embed", "id": ref.id, "data": data}


def _build_tool_chunk(state: str, call_id: str) -> Chunk:
    """Build a chunk of a tool that the client does not know and that we run."""
    flags = {"dynamic": True, "providerExecuted": True}
    return {"type": f"tool-{state}", "toolCallId": call_id} | flags


def parse_input(arguments: str) -> Any:
    """Parse the model's JSON; text that is not JSON stays as it is."""
    try:
        return from_json(arguments, allow_inf_nan=False)
    except ValueError:
        return arguments


def _build_terminal_chunk(outcome: Outcome) -> Chunk:
    match outcome:
        case "completed" | "limited":
            return {"type": "finish", "messageMetadata": {"outcome": outcome}}
        case "stopped":
            return {"type": "abort", "reason": "user_cancelled"}
        case "failed" | "interrupted":
            return {"type": "error", "errorText": _ERROR_TEXTS[outcome]}
