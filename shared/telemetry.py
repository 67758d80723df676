"""One canonical log line per request: facts and sizes, never content."""

import hashlib
import json
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_fields: ContextVar[dict[str, Any] | None] = ContextVar("canonical_line", default=None)
_log = logging.getLogger("keepsake")


class _Json(logging.Formatter):
    """Cloud Logging reads `severity` and `message` from JSON on stdout."""

    def format(self, record: logging.LogRecord) -> str:
        facts = getattr(record, "facts", {})
        line = {"severity": record.levelname, "message": record.getMessage(), **facts}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def configure() -> None:
    """Send our log to stdout as JSON, once per process."""
    if _log.handlers:
        return
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(_Json())
    _log.addHandler(handler)
    _log.setLevel(logging.INFO)
    _log.propagate = False


def info(event: str, **facts: object) -> None:
    """Log a snake_case fact."""
    _log.info(event, extra={"facts": facts})


def warning(event: str, **facts: object) -> None:
    """Log what someone may want to look at."""
    _log.warning(event, extra={"facts": facts})


def error(event: str, **facts: object) -> None:
    """Log what someone must look at, with the exception being handled."""
    _log.error(event, extra={"facts": facts}, exc_info=sys.exc_info()[0] is not None)


def note(**facts: object) -> None:
    """Add facts to the request's canonical line; outside a request, nothing happens."""
    fields = _fields.get()
    if fields is not None:
        fields.update(facts)


def opaque(uid: str) -> str:
    """Return a stable name for a user that says nothing about them."""
    return hashlib.sha256(uid.encode()).hexdigest()[:16]


@contextmanager
def request(function: str, **facts: object) -> Iterator[None]:
    """Log one line when the request ends, however it ends."""
    fields: dict[str, Any] = {"function": function, **facts}
    token = _fields.set(fields)
    started = time.perf_counter()
    try:
        yield
    except BaseException as failure:
        fields["outcome"] = type(failure).__name__
        raise
    finally:
        _fields.reset(token)
        fields["ms"] = round((time.perf_counter() - started) * 1000, 1)
        info("request", **fields)
