"""One canonical log line per request: facts, sizes and times, never content."""

import hashlib
import json
import logging
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from shared.tracing import Trace, continued

_log = logging.getLogger("keepsake")


class ToolCall:
    """A tool call at work: it failed unless somebody says that it did not."""

    failed = True


class Record:
    """What one request did so far, shared by all tasks that work for it."""

    def __init__(self, trace: Trace, facts: Mapping[str, object]) -> None:
        self.trace = trace
        self._facts = dict(facts)
        self._counts: Counter[str] = Counter()
        self._stages: dict[str, float] = {}
        self._tools: list[Mapping[str, object]] = []
        self._started = time.perf_counter()

    def note(self, facts: Mapping[str, object]) -> None:
        self._facts.update(facts)

    def note_missing(self, **facts: object) -> None:
        """Add facts that nobody knew better."""
        self._facts = {**facts, **self._facts}

    def count(self, numbers: Mapping[str, int]) -> None:
        self._counts.update(numbers)

    @contextmanager
    def tool(self, name: str) -> Iterator["ToolCall"]:
        call = ToolCall()
        started = time.perf_counter()
        try:
            yield call
        finally:
            ms = round(_ms_since(started), 1)
            self._tools.append({"tool": name, "ms": ms, "failed": call.failed})

    def mark(self, moment: str) -> None:
        """Note how long after the request's start something happened first."""
        self._stages.setdefault(moment, _ms_since(self._started))

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self._stages[name] = self._stages.get(name, 0.0) + _ms_since(started)

    def facts(self) -> dict[str, Any]:
        """Return all of it: `ms` in all, `stages` in ms by name, `tools` in the order they ended."""
        stages = {name: round(ms, 1) for name, ms in self._stages.items()}
        collected = {"stages": stages, "tools": list(self._tools)}
        return {
            "trace_id": self.trace.trace_id,
            "request_id": self.trace.request_id,
            **self._facts,
            **self._counts,
            **{name: some for name, some in collected.items() if some},
            "ms": round(_ms_since(self._started), 1),
        }


def _ms_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


_record: ContextVar[Record | None] = ContextVar("canonical_line", default=None)


@contextmanager
def request(
    function: str, *, carried: Mapping[str, str] | None = None, **facts: object
) -> Iterator[Record]:
    """Log one line when the request ends, however it ends; it continues the trace it is given."""
    record = Record(continued(carried or trace()), {"function": function, **facts})
    token = _record.set(record)
    try:
        yield record
    except BaseException as failure:
        record.note({"outcome": type(failure).__name__})
        raise
    finally:
        info("request", **record.facts())
        _record.reset(token)


def note(**facts: object) -> None:
    """Add facts to the request's canonical line; outside a request, nothing happens."""
    if record := _record.get():
        record.note(facts)


def count(**numbers: int) -> None:
    """Add to the request's counts."""
    if record := _record.get():
        record.count(numbers)


def mark(moment: str) -> None:
    """Note when something happened first, in ms since the request began."""
    if record := _record.get():
        record.mark(moment)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Add the time spent inside to a stage of the request."""
    record = _record.get()
    if record is None:
        yield
        return
    with record.stage(name):
        yield


@contextmanager
def tool(name: str) -> Iterator[ToolCall]:
    """Add a tool call, and how long it took, to the request."""
    record = _record.get()
    if record is None:
        yield ToolCall()
        return
    with record.tool(name) as call:
        yield call


def facts() -> Mapping[str, Any]:
    """Return what the request's line would say now; nothing outside a request."""
    record = _record.get()
    return record.facts() if record else {}


def trace() -> Mapping[str, str]:
    """Return what carries the request's trace on to another of our functions."""
    record = _record.get()
    return record.trace.headers if record else {}


def join(carried: Mapping[str, str]) -> None:
    """Continue another trace: an envelope's, which the request itself does not know."""
    record = _record.get()
    if record and "traceparent" in carried:
        record.trace = continued(carried)


def opaque(uid: str) -> str:
    """Return a stable name for a user that says nothing about them."""
    return hashlib.sha256(uid.encode()).hexdigest()[:16]


def info(event: str, **facts: object) -> None:
    """Log a snake_case fact."""
    _log.info(event, extra={"facts": _traced(facts)})


def warning(event: str, **facts: object) -> None:
    """Log what someone may want to look at."""
    _log.warning(event, extra={"facts": _traced(facts)})


def error(event: str, **facts: object) -> None:
    """Log what someone must look at, with the exception being handled."""
    failing = sys.exc_info()[0] is not None
    _log.error(event, extra={"facts": _traced(facts)}, exc_info=failing)


def _traced(facts: Mapping[str, object]) -> Mapping[str, object]:
    record = _record.get()
    if record is None:
        return facts
    trace = record.trace
    return {"trace_id": trace.trace_id, "request_id": trace.request_id, **facts}


class Json(logging.Formatter):
    """Cloud Logging reads `severity`, `message` and the trace's full name from JSON on stdout."""

    def __init__(self, project: str | None) -> None:
        super().__init__()
        self._project = project

    def format(self, record: logging.LogRecord) -> str:
        facts = getattr(record, "facts", {})
        line = {"severity": record.levelname, "message": record.getMessage(), **facts}
        if self._project and "trace_id" in facts:
            name = f"projects/{self._project}/traces/{facts['trace_id']}"
            line["logging.googleapis.com/trace"] = name
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def configure(project: str | None = None) -> None:
    """Send our log to stdout as JSON, once per process; `project` is the cloud project, if any."""
    if _log.handlers:
        return
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(Json(project))
    _log.addHandler(handler)
    _log.setLevel(logging.INFO)
    _log.propagate = False
