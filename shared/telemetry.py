"""Telemetry: one canonical log line per request, with ids, sizes and times, never content.

The request and its tool calls are spans, too: shared/spans.py.

Also called: logging, structured logging, metrics, observability, monitoring.
"""

import hashlib
import json
import logging
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Any

from shared import spans
from shared.tracing import Trace, parse_trace

_log = logging.getLogger("keepsake")

_REQUEST_ATTRIBUTES = {"status": "http.response.status_code", "outcome": "keepsake.outcome"}
"""Fields of the line that the span of the request has, too, by their names there."""


class ToolCallRecord:
    """A running tool call; it counts as failed until `failed` is set to False."""

    failed = True


class RequestRecord:
    """The fields of one request's line so far, shared by all tasks that work on it."""

    def __init__(self, span: spans.Span, fields: Mapping[str, object]) -> None:
        self.span = span
        self._fields = dict(fields)
        self._counts: Counter[str] = Counter()
        self._stages: dict[str, float] = {}
        self._tools: list[Mapping[str, object]] = []
        self._started = time.perf_counter()
        self._caused_at_s: float | None = None

    @property
    def trace(self) -> Trace:
        return self.span.trace

    def add_fields(self, fields: Mapping[str, object]) -> None:
        self._fields.update(fields)

    def add_missing_fields(self, **fields: object) -> None:
        """Add fields unless they are set already."""
        self._fields = {**fields, **self._fields}

    def count(self, numbers: Mapping[str, int]) -> None:
        self._counts.update(numbers)

    def add_tool_call(self, name: str, ms: float, *, failed: bool) -> None:
        self._tools.append({"tool": name, "ms": round(ms, 1), "failed": failed})

    def record_cause(self, at: datetime) -> None:
        self._caused_at_s = at.timestamp()

    def mark(self, moment: str) -> None:
        """Record when something first happened, in ms since the request began."""
        self._stages.setdefault(moment, _measure_ms_since(self._started))

    def add_stage(self, name: str, ms: float) -> None:
        self._stages[name] = self._stages.get(name, 0.0) + ms

    def measure_elapsed_s(self) -> float:
        return _measure_ms_since(self._started) / 1000

    def collect_fields(self) -> dict[str, Any]:
        """Return all fields: total `ms`, `stages` in ms by name, `tools` in the order they ended.

        `age_ms` is how long ago began what caused the request, where that is known.
        """
        stages = {name: round(ms, 1) for name, ms in self._stages.items()}
        breakdowns = {"stages": stages, "tools": list(self._tools)}
        return {
            "trace_id": self.trace.trace_id,
            "request_id": self.trace.request_id,
            **self._fields,
            **self._counts,
            **{name: entries for name, entries in breakdowns.items() if entries},
            "ms": round(_measure_ms_since(self._started), 1),
            **({} if self._caused_at_s is None else {"age_ms": _compute_age_ms(self._caused_at_s)}),
        }


def _measure_ms_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def _compute_age_ms(at_s: float) -> float:
    return round((time.time() - at_s) * 1000, 1)


_record: ContextVar[RequestRecord | None] = ContextVar("canonical_line", default=None)


@contextmanager
def log_request(
    function: str,
    *,
    trace_headers: Mapping[str, str] | None = None,
    from_outside: bool = False,
    **fields: object,
) -> Iterator[RequestRecord]:
    """Log one line when the request ends, however it ends; continue the trace of the headers."""
    trace = parse_trace(trace_headers or get_trace_headers(), from_outside=from_outside)
    with spans.open_request(function, trace) as span:
        record = RequestRecord(span, {"function": function, **fields})
        token = _record.set(record)
        try:
            yield record
        except BaseException as failure:
            record.add_fields({"outcome": type(failure).__name__})
            raise
        finally:
            collected_fields = record.collect_fields()
            info("request", **collected_fields)
            _describe_request(span, collected_fields)
            _record.reset(token)


def _describe_request(span: spans.Span, fields: Mapping[str, Any]) -> None:
    """Name the span of a request by its route, or by the function that a message was for."""
    function, route = fields["function"], fields.get("route", "")
    if span.kind == "consumer":
        span.name = f"process {function}"
        span.attributes |= spans.describe_message("process", function)
    elif route:
        span.name = route
        method, _, path = route.partition(" ")
        span.attributes |= {"http.request.method": method, "http.route": path}
    names = _REQUEST_ATTRIBUTES.items()
    span.attributes |= {name: fields[field] for field, name in names if field in fields}
    span.error = span.error or _find_server_error(fields)


def _find_server_error(fields: Mapping[str, Any]) -> str | None:
    """Return the class of a failure of ours, or its status; what a caller did wrong is none."""
    status = fields.get("status", 0)
    return str(fields.get("error", status)) if status >= 500 else None


def add_fields(**fields: object) -> None:
    """Add fields to the request's line; do nothing outside a request."""
    if record := _record.get():
        record.add_fields(fields)


def count(**numbers: int) -> None:
    """Add to the request's counts."""
    if record := _record.get():
        record.count(numbers)


def mark(moment: str) -> None:
    """Record when something first happened, in ms since the request began."""
    if record := _record.get():
        record.mark(moment)


def record_cause(at: datetime) -> None:
    """Record since when what this request does is due; its line says how long that was at its end."""
    if record := _record.get():
        record.record_cause(at)


@contextmanager
def measure_stage(name: str) -> Iterator[None]:
    """Add the time spent in the block to a stage of the request."""
    record, started = _record.get(), time.perf_counter()
    try:
        yield
    finally:
        if record:
            record.add_stage(name, _measure_ms_since(started))


@contextmanager
def measure_tool_call(name: str) -> Iterator[ToolCallRecord]:
    """Add a tool call and its duration to the request."""
    record, call, started = _record.get(), ToolCallRecord(), time.perf_counter()
    with spans.open_span(f"execute_tool {name}", attributes=_describe_tool(name)) as span:
        try:
            yield call
        finally:
            if call.failed:
                span.error = "tool_error"
            if record:
                record.add_tool_call(name, _measure_ms_since(started), failed=call.failed)


def _describe_tool(name: str) -> spans.Attributes:
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}


def get_fields() -> Mapping[str, Any]:
    """Return the request's fields so far; none outside a request."""
    record = _record.get()
    return record.collect_fields() if record else {}


def measure_elapsed_s() -> float:
    """Return how long ago the request began, in seconds; 0 outside a request."""
    record = _record.get()
    return record.measure_elapsed_s() if record else 0.0


def get_trace_headers() -> Mapping[str, str]:
    """Return the headers that continue the request's trace in another of our functions."""
    trace = spans.get_trace()
    return trace.headers if trace else {}


def continue_trace(trace_headers: Mapping[str, str]) -> None:
    """Continue the trace of an event's envelope instead of the request's own."""
    record = _record.get()
    if record and "traceparent" in trace_headers:
        record.span.trace = spans.decide(parse_trace(trace_headers))
        record.span.kind = "consumer"


def hash_id(uid: str) -> str:
    """Return a stable pseudonym of a user for the log: 16 hex digits of SHA-256."""
    return hashlib.sha256(uid.encode()).hexdigest()[:16]


def info(event: str, **fields: object) -> None:
    """Log an event, named in snake_case."""
    _log.info(event, extra={"facts": _add_trace(fields)})


def warning(event: str, **fields: object) -> None:
    """Log an event that someone may want to look at."""
    _log.warning(event, extra={"facts": _add_trace(fields)})


def error(event: str, **fields: object) -> None:
    """Log an event that someone must look at, with the exception being handled."""
    has_exception = sys.exc_info()[0] is not None
    _log.error(event, extra={"facts": _add_trace(fields)}, exc_info=has_exception)


def _add_trace(fields: Mapping[str, object]) -> Mapping[str, object]:
    trace = spans.get_trace()
    if trace is None:
        return fields
    return {"trace_id": trace.trace_id, "request_id": trace.request_id, **fields}


class JsonFormatter(logging.Formatter):
    """JSON lines as Cloud Logging reads them: `severity`, `message` and the trace's full name."""

    def __init__(self, project: str | None) -> None:
        super().__init__()
        self._project = project

    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "facts", {})
        line = {"severity": record.levelname, "message": record.getMessage(), **fields}
        if self._project and "trace_id" in fields:
            name = f"projects/{self._project}/traces/{fields['trace_id']}"
            line["logging.googleapis.com/trace"] = name
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def configure(project: str | None = None, *, formatter: logging.Formatter | None = None) -> None:
    """Send the log to stdout, once per process: as JSON, if no other formatter is given.

    `project` is the cloud project, if any.
    """
    if _log.handlers:
        return
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(formatter or JsonFormatter(project))
    _log.addHandler(handler)
    _log.setLevel(logging.INFO)
    _log.propagate = False
