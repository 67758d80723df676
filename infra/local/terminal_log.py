"""Terminal log: one short line an event, for people who watch the local server."""

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any

DIM, YELLOW, RED, PLAIN = "\x1b[2m", "\x1b[33m", "\x1b[31m", "\x1b[0m"
_COLOURS = {"WARNING": YELLOW, "ERROR": RED, "CRITICAL": RED}
_HIDDEN = frozenset({"trace_id", "request_id", "stages", "tools"})
_LEADING = ("function", "route", "status", "outcome", "ms")


class TerminalFormatter(logging.Formatter):
    """Time and event, and then what a reader needs of its fields; the trace stands in the JSON log."""

    def format(self, record: logging.LogRecord) -> str:
        fields: Mapping[str, Any] = getattr(record, "facts", {})
        at = datetime.fromtimestamp(record.created).astimezone()
        text = _describe_request(fields) if record.getMessage() == "request" else None
        line = text or f"{record.getMessage()} {_join(fields)}"
        colour = _COLOURS.get(record.levelname, "")
        trace = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
        return f"{DIM}{at:%H:%M:%S}{PLAIN} {colour}{line.strip()}{PLAIN if colour else ''}{trace}"


def _describe_request(fields: Mapping[str, Any]) -> str:
    """Return route, result and duration, behind the function that served it."""
    function, route, status, outcome, ms = (fields.get(name, "") for name in _LEADING)
    result = " ".join(str(part) for part in (status, outcome) if part)
    return f"{function}: {route} {DIM}{result} {ms} ms{PLAIN}"


def _join(fields: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in fields.items() if name not in _HIDDEN)
