"""A run as the Vercel AI SDK reads it: the UI message stream, version 1.

One group of lines is one chunk. The last group of an event bears the event's number as `id:`; a
client that was cut off asks for what comes after the last number it has, and is sent the very bytes
it missed.
"""

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from typing import Any

from pydantic_core import from_json, to_json

from shared.domain.chat import Message
from shared.domain.confirmation import Confirmation
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

HEADERS = {"x-vercel-ai-ui-message-stream": "v1"}
HEARTBEAT = b": ping\n\n"

_NEVER_CAME_BACK = "The answer ended before this tool did."
_ERRORS: Mapping[Outcome, str] = {
    "failed": "The answer failed.",
    "interrupted": "The answer was interrupted.",
}

Chunk = dict[str, Any]
MessageJson = Callable[[Message], bytes]


async def encode(
    events: AsyncGenerator[Numbered, None],
    *,
    run_id: str,
    message_json: MessageJson,
    after: int = 0,
) -> AsyncGenerator[bytes, None]:
    """Encode a run; `events` start with its first one, and those up to `after` are not sent again.

    Every item is one event and wants its own send. No joined piece of text may reach from before
    `after` to behind it.
    """
    chunks = _Chunks(run_id, message_json)
    async with aclosing(events):
        async for numbered in events:
            told = _lines(numbered, chunks)
            if numbered.seq > after:
                yield told


def _lines(numbered: Numbered, chunks: "_Chunks") -> bytes:
    groups = [to_json(chunk, inf_nan_mode="null") for chunk in chunks.of(numbered.event)]
    if isinstance(numbered.event, Ended):
        groups.append(b"[DONE]")
    return b"data: " + b"\n\ndata: ".join(groups) + b"\nid: %d\n\n" % numbered.seq


class _Chunks:
    """What a run's events become; the same whatever pieces its text comes in."""

    def __init__(self, run_id: str, message_json: MessageJson) -> None:
        self._run_id = run_id
        self._message_json = message_json
        self._begun = False
        self._in_step = False
        self._part: str | None = None
        self._parts = 0
        self._running: dict[str, None] = {}
        self._asked: dict[str, Confirmation] = {}

    def of(self, event: RunEvent) -> Iterator[Chunk]:
        if not self._begun:
            self._begun = True
            yield {"type": "start", "messageId": self._run_id}
        match event:
            case Said(text):
                yield from self._piece("text", text)
            case Reasoned(text):
                yield from self._piece("reasoning", text)
            case Ended():
                yield from self._end(event)
            case ConfirmationAsked(confirmation):
                yield from self._close_part()
                self._asked[confirmation.id] = confirmation
                yield _question(confirmation, "asked")
            case ConfirmationSettled(id=asked, decision=decision):
                yield _question(self._asked.pop(asked), decision)
            case _:
                yield from self._told(event)

    def _piece(self, kind: str, text: str) -> Iterator[Chunk]:
        """Add to the open part where it is of this kind, else to a new one."""
        if self._part is None or not self._part.startswith(kind):
            yield from self._close_part()
            self._parts += 1
            self._part = f"{kind}-{self._parts}"
            yield {"type": f"{kind}-start", "id": self._part}
        yield {"type": f"{kind}-delta", "id": self._part, "delta": text}

    def _close_part(self) -> Iterator[Chunk]:
        if self._part is not None:
            kind, _, _ = self._part.partition("-")
            yield {"type": f"{kind}-end", "id": self._part}
            self._part = None

    def _told(
        self, event: Stage | Status | ToolStarted | ToolEnded | CitationShown
    ) -> Iterator[Chunk]:
        match event:
            case Stage("thinking"):
                yield from self._end_step()
                self._in_step = True
                yield {"type": "start-step"}
            case ToolStarted(call_id=call_id):
                yield from self._close_part()
                self._running[call_id] = None
            case ToolEnded(call_id=call_id):
                self._running.pop(call_id, None)
        yield _chunk(event)
        if isinstance(event, ToolEnded) and event.connect_url:
            yield _connect(event, event.connect_url)

    def _end_step(self) -> Iterator[Chunk]:
        """A step is one model call with its tools."""
        yield from self._close_part()
        if self._in_step:
            self._in_step = False
            yield {"type": "finish-step"}

    def _end(self, event: Ended) -> Iterator[Chunk]:
        yield from self._close_part()
        for call_id in self._running:
            yield _chunk(ToolEnded(call_id=call_id, output=_NEVER_CAME_BACK, failed=True))
        for confirmation in self._asked.values():
            yield _question(confirmation, "expired")
        yield from self._end_step()
        message = from_json(self._message_json(event.message))
        yield {"type": "data-message", "id": event.message.id, "data": message}
        yield _terminal(event.outcome)


def _chunk(event: Stage | Status | ToolStarted | ToolEnded | CitationShown) -> Chunk:
    match event:
        case Stage(name):
            return {"type": "data-stage", "data": {"name": name}, "transient": True}
        case Status(text, app_id):
            data = {"text": text, "app_id": app_id}
            return {"type": "data-status", "data": data, "transient": True}
        case ToolStarted():
            return _tool("input-available", event.call_id) | {
                "toolName": event.tool,
                "input": _input(event.arguments),
            }
        case ToolEnded(failed=True):
            return _tool("output-error", event.call_id) | {"errorText": event.output}
        case ToolEnded():
            return _tool("output-available", event.call_id) | {"output": event.output}
        case CitationShown(number=number, card=card):
            ours = {"number": number, "created_at": card.created_at, "emoji": card.emoji}
            return {
                "type": "source-document",
                "sourceId": card.id,
                "mediaType": "text/plain",
                "title": card.title,
                "providerMetadata": {"keepsake": ours},
            }


def _connect(event: ToolEnded, url: str) -> Chunk:
    name = event.source.name if event.source else None
    return {"type": "data-connect", "id": event.call_id, "data": {"url": url, "name": name}}


def _question(asked: Confirmation, state: str) -> Chunk:
    """Tell a question; the same part comes again with what became of it."""
    data = {
        "id": asked.id,
        "call_id": asked.call_id,
        "tool": asked.tool,
        "source": {"kind": asked.source.kind, "id": asked.source.id, "name": asked.source.name},
        "arguments": _input(asked.arguments),
        "reason": asked.reason,
        "argument": asked.argument,
        "expires_at": asked.expires_at,
        "state": state,
    }
    return {"type": "data-confirmation", "id": asked.id, "data": data}


def _tool(what: str, call_id: str) -> Chunk:
    """Our tools are unknown to the client, and have run already."""
    ran = {"dynamic": True, "providerExecuted": True}
    return {"type": f"tool-{what}", "toolCallId": call_id} | ran


def _input(arguments: str) -> Any:
    """Read what the model wrote; what is no JSON is shown as it stands."""
    try:
        return from_json(arguments, allow_inf_nan=False)
    except ValueError:
        return arguments


def _terminal(outcome: Outcome) -> Chunk:
    match outcome:
        case "completed" | "limited":
            return {"type": "finish", "messageMetadata": {"outcome": outcome}}
        case "stopped":
            return {"type": "abort", "reason": "user_cancelled"}
        case "failed" | "interrupted":
            return {"type": "error", "errorText": _ERRORS[outcome]}
