"""What our log says while a test looks, line by line, as Cloud Logging would read it."""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shared.telemetry import Json

OURS = logging.getLogger("keepsake")


class Log:
    """Everything that was logged so far."""

    def __init__(self) -> None:
        self.stream = io.StringIO()

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    def requests(self, **facts: str) -> list[dict[str, Any]]:
        """Return the canonical lines that say so."""
        asked = {"message": "request", **facts}.items()
        return [line for line in self.lines if asked <= line.items()]


@contextmanager
def logged(project: str | None = None) -> Iterator[Log]:
    """Collect what is logged inside."""
    log = Log()
    handler = logging.StreamHandler(log.stream)
    handler.setFormatter(Json(project))
    level = OURS.level
    OURS.addHandler(handler)
    OURS.setLevel(logging.INFO)
    try:
        yield log
    finally:
        OURS.removeHandler(handler)
        OURS.setLevel(level)
