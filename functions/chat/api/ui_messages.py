"""UI message stream of the Vercel AI SDK, version 1: the events of a run as its chunks.

One group of lines is one chunk. The last group of an event carries the event's seq as `id:`; a
client that reconnects names the last seq it has and gets exactly the bytes that it missed.

The chunk that begins a part says in its `providerMetadata` where the part belongs; later chunks of the
part refer to it by its id.

Where several models answer at once, the chunks of the first one are the stream; those of each other one
are a stream of its own, whose chunks come one by one as `data` of transient `data-voice` parts.

Also called: useChat.
"""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing

from pydantic_core import to_json

from functions.chat.api.ui_chunks import Chunk, ChunkBuilder, MessageEncoder, wrap_chunk
from shared.domain.chats.run import (
    AnswerExtended,
    Outcome,
    PlainEvent,
    RunEnded,
    RunEvent,
    SequencedEvent,
    VoiceEnded,
    VoicesStarted,
)
from shared.domain.chats.voices import get_voice, untag_event

HEADERS = {"x-vercel-ai-ui-message-stream": "v1"}
HEARTBEAT = b": ping\n\n"


async def encode(
    events: AsyncGenerator[SequencedEvent, None],
    *,
    run_id: str,
    encode_message: MessageEncoder,
    after_seq: int = 0,
) -> AsyncGenerator[bytes, None]:
    """Encode a run from its first event, but yield only the events after `after_seq`.

    Every item is one event, to be sent separately. A merged piece of text may not span `after_seq`.
    """
    builder = _StreamBuilder(run_id, encode_message)
    async with aclosing(events):
        async for numbered in events:
            frame = _encode_event(numbered, builder)
            if numbered.seq > after_seq:
                yield frame


async def encode_chunks(chunks: Sequence[Chunk]) -> AsyncGenerator[bytes, None]:
    """Encode a stream of these chunks alone, which nobody resumes."""
    for chunk in chunks:
        yield b"data: " + to_json(chunk) + b"\n\n"
    yield b"data: [DONE]\n\n"


def _encode_event(numbered: SequencedEvent, builder: "_StreamBuilder") -> bytes:
    groups = [to_json(chunk, inf_nan_mode="null") for chunk in builder.build_chunks(numbered.event)]
    if isinstance(numbered.event, RunEnded | AnswerExtended):
        groups.append(b"[DONE]")
    data = b"\n\n".join(b"data: " + group for group in groups)
    return b"%sid: %d\n\n" % (data + b"\n" if data else b"", numbered.seq)


class _StreamBuilder:
    """Builds the chunks of a run, event by event, for all of its voices."""

    def __init__(self, run_id: str, encode_message: MessageEncoder) -> None:
        self._run_id = run_id
        self._encode_message = encode_message
        self._voices = {0: ChunkBuilder(run_id, encode_message)}

    def build_chunks(self, event: RunEvent) -> Iterator[Chunk]:
        if isinstance(event, RunEnded):
            yield from self._end_voices(event.outcome)
        voice = get_voice(event)
        builder = self._voices.get(voice)
        if builder is None:
            builder = self._voices[voice] = ChunkBuilder(self._run_id, self._encode_message, voice)
        for chunk in _build_chunks(builder, untag_event(event)):
            yield wrap_chunk(chunk, voice) if voice else chunk

    def _end_voices(self, outcome: Outcome) -> Iterator[Chunk]:
        """End the other voices that have not ended by themselves."""
        for voice, builder in self._voices.items():
            if voice and not builder.has_ended:
                for chunk in builder.end_voice(outcome):
                    yield wrap_chunk(chunk, voice)


def _build_chunks(builder: ChunkBuilder, event: PlainEvent) -> Iterator[Chunk]:
    match event:
        case VoicesStarted(models):
            yield from builder.start()
            yield {"type": "data-voices", "data": {"models": models}, "transient": True}
        case VoiceEnded(outcome):
            yield from builder.end_voice(outcome)
        case _:
            yield from builder.build_chunks(event)
