"""The released apps' stream parsers, as facts to be compatible with."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Shown:
    """What the app's owner saw."""

    statuses: list[str] = field(default_factory=list)
    text: str = ""
    done: dict[str, Any] | None = None
    failed: bool = False

    def take(self, frame: str) -> None:
        if self.failed or not frame:
            return
        if frame.startswith("think: "):
            self.statuses.append(frame.removeprefix("think: ").replace("__CRLF__", "\n"))
        elif frame.startswith("data: "):
            self.text += frame.removeprefix("data: ").replace("__CRLF__", "\n")
        elif frame.startswith("done: "):
            self.done = json.loads(base64.b64decode(frame.removeprefix("done: "), validate=True))
        else:
            self.failed = True


def old_parser(chunks: Sequence[bytes]) -> Shown:
    """Read each network chunk for itself; only pieces of 1,024 characters and more are glued on."""
    shown = Shown()
    kept = ""
    for chunk in chunks:
        for piece in chunk.decode().split("\n\n"):
            kept += piece
            if len(piece) >= 1024:
                continue
            shown.take(kept)
            kept = ""
    shown.take(kept)
    return shown


def fixed_parser(chunks: Sequence[bytes]) -> Shown:
    """Keep what has no end yet, over every split of the bytes."""
    shown = Shown()
    kept = b""
    for chunk in chunks:
        *frames, kept = (kept + chunk).split(b"\n\n")
        for frame in frames:
            shown.take(frame.decode())
    return shown
