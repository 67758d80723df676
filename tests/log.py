"""Log lines of a test, as Cloud Logging would read them."""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shared.telemetry import JsonFormatter

LOGGER = logging.getLogger("keepsake")


class CapturedLog:
    """The lines logged so far."""

    def __init__(self) -> None:
        self.stream = io.StringIO()

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    def find_requests(self, **fields: str) -> list[dict[str, Any]]:
        """Return the canonical lines with these fields."""
        expected = {"message": "request", **fields}.items()
        return [line for line in self.lines if expected <= line.items()]


@contextmanager
def capture_log(project: str | None = None) -> Iterator[CapturedLog]:
    """Collect what is logged inside."""
    log = CapturedLog()
    handler = logging.StreamHandler(log.stream)
    handler.setFormatter(JsonFormatter(project))
    level = LOGGER.level
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    try:
        yield log
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(level)
