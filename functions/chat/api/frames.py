"""Frame protocol of released apps, byte for byte: `message:`, `think:`, `data:` and `done:` frames.

Their parser reads each network chunk separately: it joins a frame of 1,024 characters or more with
the next one, and ends the turn at a frame of an unknown kind. So one frame is one send, every frame
but `done` has at most 1,000 bytes, and `done` comes last and alone.

Also called: wire format, streaming protocol.
"""

import base64
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import replace

from shared.domain.chats.chat import Message
from shared.domain.chats.confirmation import Confirmation
from shared.domain.chats.run import (
    AnswerText,
    ConfirmationRequested,
    RunEnded,
    RunEvent,
    Status,
    VoiceEnded,
    VoiceEvent,
    VoicesStarted,
)
from shared.domain.ids import AppId

MAX_FRAME_BYTES = 1_000
HEARTBEAT = b"data: \n\n"
"""An empty piece of the answer: the only frame for which every released app shows nothing."""
MAX_CHARACTER_BYTES = 6
"""Of a character as JSON, such as \\u0001; in UTF-8 it has four at most."""
_ESCAPED_NEWLINE = "__CRLF__"
_APP_MARKER = "|app_id:"


def encode_status(status: Status) -> bytes:
    """Encode a status, truncated to fit one frame."""
    tail = f"{_APP_MARKER}{status.app_id}" if status.app_id else ""
    max_bytes = MAX_FRAME_BYTES - len("think: \n\n") - len(tail.encode())
    text = (
        _escape(status.text.replace(_APP_MARKER, " ")).encode()[:max_bytes].decode(errors="ignore")
    )
    return f"think: {text}{tail}\n\n".encode()


def encode_text(text: str) -> Iterator[bytes]:
    """Encode a piece of the answer as frames of at most MAX_FRAME_BYTES."""
    max_bytes = MAX_FRAME_BYTES - len("data: \n\n")
    for piece in _split_by_size(text, max_bytes):
        yield f"data: {piece}\n\n".encode()


def encode_question(question: Message, encode_message: Callable[[Message], bytes]) -> bytes:
    """Encode what the owner said, which apps do not know where it came as sound.

    A text that does not fit into one frame is cut; the list of messages has all of it.
    """
    max_bytes = (MAX_FRAME_BYTES - len("message: \n\n")) // 4 * 3
    message_json, kept = encode_message(question), question.text[:max_bytes]
    excess = len(message_json) - max_bytes
    while excess > 0 and kept:
        message_json = encode_message(replace(question, text=f"{kept.rstrip()}…"))
        excess = len(message_json) - max_bytes
        kept = kept[: -max(1, excess // MAX_CHARACTER_BYTES)]
    return b"message: " + base64.b64encode(message_json) + b"\n\n"


def encode_done(message_json: bytes) -> bytes:
    """Encode the last frame."""
    return b"done: " + base64.b64encode(message_json) + b"\n\n"


def _escape(text: str) -> str:
    return text.replace("\n", _ESCAPED_NEWLINE)


def _split_by_size(text: str, max_bytes: int) -> Iterator[str]:
    """Split between characters, so that neither a character nor an escaped newline is torn."""
    escaped = _escape(text)
    if len(escaped) * 4 <= max_bytes or len(escaped.encode()) <= max_bytes:
        yield escaped
        return
    start = size = 0
    for position, character in enumerate(text):
        width = len(_escape(character).encode())
        if size + width > max_bytes:
            yield _escape(text[start:position])
            start, size = position, 0
        size += width
    yield _escape(text[start:])


async def encode(
    events: AsyncGenerator[RunEvent, None], encode_message: Callable[[Message], bytes]
) -> AsyncGenerator[bytes, None]:
    """Encode a run; every item is one frame, to be sent separately."""
    async with aclosing(events):
        async for event in events:
            if isinstance(event, VoicesStarted):
                break
            for frame in _encode_event(event, encode_message):
                yield frame
        first_voice = _FirstVoice()
        async for event in events:
            for let_out in first_voice.take(event):
                for frame in _encode_event(let_out, encode_message):
                    yield frame


class _FirstVoice:
    """The first of several voices, which released apps read alone, unless another one has the main answer.

    Its last piece of text is held back: where it did not complete, the main answer may come in its place.
    """

    def __init__(self) -> None:
        self._held: list[AnswerText] = []
        self._has_shown = False

    def take(self, event: RunEvent) -> Iterator[RunEvent]:
        """Take the next event; yield those that may go out."""
        match event:
            case AnswerText():
                yield from self._let_out()
                self._held = [event]
            case VoiceEvent():
                return
            case VoiceEnded(outcome) if outcome != "completed":
                return
            case RunEnded(message) if message.voice:
                self._held = [AnswerText(message.marked_text or message.text)]
                if self._has_shown:
                    yield AnswerText("\n\n")
                yield from self._let_out()
                yield event
            case _:
                yield from self._let_out()
                yield event

    def _let_out(self) -> Iterator[RunEvent]:
        held, self._held = self._held, []
        self._has_shown = self._has_shown or bool(held)
        yield from held


def _get_app_id(confirmation: Confirmation) -> AppId | None:
    return AppId(confirmation.source.id) if confirmation.source.kind == "app" else None


def _encode_event(event: RunEvent, encode_message: Callable[[Message], bytes]) -> Iterator[bytes]:
    """Encode text, statuses and the end; released apps know nothing else."""
    match event:
        case AnswerText(text):
            yield from encode_text(text)
        case Status():
            yield encode_status(event)
        case ConfirmationRequested(confirmation) if confirmation.channel == "button":
            yield encode_status(
                Status(f"Waiting for your OK: {confirmation.tool}", _get_app_id(confirmation))
            )
        case RunEnded(message):
            yield encode_done(encode_message(message))
