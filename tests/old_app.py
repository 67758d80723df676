"""Stream parsers of the released apps, with which answers stay compatible."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class RenderedAnswer:
    """The answer as the app shows it."""

    statuses: list[str] = field(default_factory=list)
    text: str = ""
    question: dict[str, Any] | None = None
    done: dict[str, Any] | None = None
    failed: bool = False

    def feed(self, frame: str) -> None:
        if self.failed or not frame:
            return
        if frame.startswith("think: "):
            self.statuses.append(frame.removeprefix("think: ").replace("__CRLF__", "\n"))
        elif frame.startswith("data: "):
            self.text += frame.removeprefix("data: ").replace("__CRLF__", "\n")
        elif frame.startswith("message: "):
            self.question = _decode(frame.removeprefix("message: "))
        elif frame.startswith("done: "):
            self.done = _decode(frame.removeprefix("done: "))
        else:
            self.failed = True


def _decode(text: str) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(base64.b64decode(text, validate=True))
    return message


def parse_as_old_app(chunks: Sequence[bytes]) -> RenderedAnswer:
    """Parse each network chunk alone; only pieces of 1,024 characters and more are joined to the next."""
    answer = RenderedAnswer()
    buffer = ""
    for chunk in chunks:
        for piece in chunk.decode().split("\n\n"):
            buffer += piece
            if len(piece) >= 1024:
                continue
            answer.feed(buffer)
            buffer = ""
    answer.feed(buffer)
    return answer


def parse_as_fixed_app(chunks: Sequence[bytes]) -> RenderedAnswer:
    """Buffer incomplete lines, whatever the split of the bytes."""
    answer = RenderedAnswer()
    buffer = b""
    for chunk in chunks:
        *frames, buffer = (buffer + chunk).split(b"\n\n")
        for frame in frames:
            answer.feed(frame.decode())
    return answer
