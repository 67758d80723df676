"""Streams of a run: its events as released apps read them, or as a UI message stream.

Also called: SSE, streaming.
"""

from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing
from typing import Any

from functions.chat.api import frames, ui_messages
from functions.chat.api.message_schemas import to_message_json, to_question_json
from functions.chat.api.question_schemas import SendQuery
from functions.chat.api.ui_chunks import Chunk, ChunkBuilder
from functions.chat.runs.journal import Journal
from shared.domain.chats.chat import Message
from shared.domain.chats.run import AnswerText, RunEnded, RunEvent, SequencedEvent
from shared.domain.chats.sealed_chat import HistoryRequest
from shared.domain.ids import RunId
from shared.edge.declare.event_stream import EventStream

SequencedEvents = AsyncGenerator[SequencedEvent, None]
Work = Callable[[], Coroutine[Any, Any, None]]


def build_refusal_stream(message: Message) -> EventStream:
    """Stream a refusal as an answer: released apps show nothing for any status but 200."""
    journal = Journal()
    journal.append(AnswerText(message.text))
    journal.append(RunEnded(message, "failed"))
    journal.open()
    body = frames.encode(_drop_seq(journal.tail()), to_message_json)
    return EventStream(body, heartbeat=frames.HEARTBEAT)


def build_stream(
    query: SendQuery,
    run_id: RunId,
    events: SequencedEvents,
    *,
    work: Work | None = None,
) -> EventStream:
    if query.protocol is not None:
        return build_ui_stream(run_id, events, work=work)
    return EventStream(
        frames.encode(_drop_seq(events), to_message_json),
        heartbeat=frames.HEARTBEAT,
        work=work,
        headers={"X-Run-Id": run_id},
    )


def build_voice_stream(
    question: Message, events: SequencedEvents, *, work: Work | None = None
) -> EventStream:
    """Stream what the owner said first, and then its answer, for released apps."""

    async def iterate() -> AsyncGenerator[bytes, None]:
        yield frames.encode_question(question, to_question_json)
        async with aclosing(frames.encode(_drop_seq(events), to_message_json)) as answer:
            async for frame in answer:
                yield frame

    return EventStream(iterate(), heartbeat=frames.HEARTBEAT, work=work)


def build_ui_stream(
    run_id: RunId,
    events: SequencedEvents,
    *,
    after_seq: int = 0,
    work: Work | None = None,
) -> EventStream:
    return EventStream(
        ui_messages.encode(
            events, run_id=run_id, encode_message=to_message_json, after_seq=after_seq
        ),
        heartbeat=ui_messages.HEARTBEAT,
        work=work,
        headers={"X-Run-Id": run_id, **ui_messages.HEADERS},
    )


def build_history_request_stream(request: HistoryRequest, text: str = "") -> EventStream:
    """Ask a client for the messages of a sealed chat; its question waits, without a model call.

    `text` is what people are shown at once.
    """
    return EventStream(
        ui_messages.encode_chunks(build_history_request_chunks(request, text)),
        heartbeat=ui_messages.HEARTBEAT,
        headers={"X-Run-Id": request.id, **ui_messages.HEADERS},
    )


def build_history_request_chunks(request: HistoryRequest, text: str = "") -> Sequence[Chunk]:
    data = {"chat_session_id": request.session_id, "reason": request.reason}
    builder = ChunkBuilder(request.id, to_message_json)
    shown = builder.build_chunks(AnswerText(text)) if text else builder.start()
    return (
        *shown,
        *builder.close_part(),
        {"type": "data-request-chat-history", "id": request.id, "data": data},
        {"type": "finish", "messageMetadata": {"outcome": "waiting"}},
    )


async def _drop_seq(events: SequencedEvents) -> AsyncGenerator[RunEvent, None]:
    """Yield the events to the end: released apps may lose a `done` that something follows."""
    async with aclosing(events):
        async for numbered in events:
            yield numbered.event
            if isinstance(numbered.event, RunEnded):
                return
