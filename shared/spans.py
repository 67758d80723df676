"""Spans: the pieces of work of one request, nested and named as a trace shows them.

Their attributes are ids, names from our own code, sizes and times: never content, never a user. They
leave the process when the request has ended, and only where `send_to` has said how.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Literal

from shared.tracing import Trace, parse_trace

SpanKind = Literal["internal", "server", "client", "producer", "consumer"]
Attribute = str | int | float | Sequence[str]
Attributes = Mapping[str, Attribute]

MAX_SPANS = 256
"""Of a request with more, such as a long import, the first are sent, and the request itself."""


class Span:
    """A piece of work; `error` is the class of what ended it."""

    def __init__(
        self, name: str, trace: Trace, *, kind: SpanKind, ended: "list[Span] | None" = None
    ) -> None:
        self.name = name
        self.trace = trace
        self.kind: SpanKind = kind
        self.attributes: dict[str, Attribute] = {}
        self.error: str | None = None
        self.started_ns = time.time_ns()
        self.ended_ns = 0
        self._ended_spans: list[Span] = [] if ended is None else ended

    def open_child(self, name: str, kind: SpanKind) -> "Span":
        return Span(name, self.trace.open_child(), kind=kind, ended=self._ended_spans)

    def end(self) -> None:
        self.ended_ns = time.time_ns()
        if len(self._ended_spans) < MAX_SPANS:
            self._ended_spans.append(self)

    def end_request(self) -> Sequence["Span"]:
        """End the span of a request; return it, and before it those that ended within it."""
        self.ended_ns = time.time_ns()
        return (*self._ended_spans, self)

    def measure_s(self) -> float:
        """Return how long ago it began, in seconds."""
        return (time.time_ns() - self.started_ns) / 1e9


SendSpans = Callable[[str, Sequence[Span]], None]
"""Takes the spans of one request of a function. It neither waits nor raises."""


def open_retrieval(source: str) -> AbstractContextManager[Span]:
    """Record a search in one of our indexes, without what was searched for."""
    attributes = {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": source}
    return open_span(f"retrieval {source}", attributes=attributes)


def describe_message(operation: Literal["send", "process"], destination: str) -> Attributes:
    return {"messaging.operation.type": operation, "messaging.destination.name": destination}


class _Destination:
    send: SendSpans | None = None
    share = 1.0


_current: ContextVar[Span | None] = ContextVar("span", default=None)


def send_to(send: SendSpans | None, *, share: float = 1.0) -> None:
    """Send the spans of later requests there, of a share, 0 to 1, of all that begin here; None sends none."""
    _Destination.send, _Destination.share = send, share


def decide(trace: Trace) -> Trace:
    """Decide whether the spans of a trace are sent, unless the function before this one did."""
    return trace.decide(_Destination.share)


def get_trace() -> Trace | None:
    """Return the place of the innermost open span; None outside a request."""
    span = _current.get()
    return span.trace if span else None


@contextmanager
def open_request(function: str, trace: Trace) -> Iterator[Span]:
    """Record the request of a function, and send its spans when it has ended, if that was decided."""
    request = Span(function, decide(trace), kind="server")
    try:
        with _make_current(request), _note_failure(request):
            yield request
    finally:
        spans = request.end_request()
        if _Destination.send and request.trace.is_sampled:
            _Destination.send(function, spans)


@contextmanager
def open_span(
    name: str, *, kind: SpanKind = "internal", attributes: Attributes | None = None
) -> Iterator[Span]:
    """Record the block as a span, and what begins within it as parts of it.

    Not for a generator: what its reader does between two items would be a part, too.
    """
    with open_leaf(name, kind=kind, attributes=attributes) as span, _make_current(span):
        yield span


@contextmanager
def open_leaf(
    name: str, *, kind: SpanKind = "internal", attributes: Attributes | None = None
) -> Iterator[Span]:
    """Record the block as a span without parts; a generator may hold it open."""
    parent = _current.get()
    span = parent.open_child(name, kind) if parent else Span(name, parse_trace({}), kind=kind)
    span.attributes.update(attributes or {})
    try:
        with _note_failure(span):
            yield span
    finally:
        span.end()


@contextmanager
def _make_current(span: Span) -> Iterator[None]:
    token = _current.set(span)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def _note_failure(span: Span) -> Iterator[None]:
    try:
        yield
    except Exception as failure:
        span.error = span.error or type(failure).__name__
        raise
