"""Collector of OpenTelemetry spans on this machine, which prints each trace as a tree.

`make traces` serves it where OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 sends spans. A trace is
printed when nothing of it has come for a second, and again when more comes.
"""

import asyncio
import socket
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import uvicorn
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shared.domain.value import value

PORT = 4318
QUIET_S = 1.0
MAX_TRACES = 100
_DETAILS = {
    "gen_ai.response.time_to_first_chunk": "first chunk after {:.2f} s",
    "gen_ai.usage.input_tokens": "{} tokens in",
    "gen_ai.usage.output_tokens": "{} out",
    "http.response.status_code": "status {}",
    "error.type": "error {}",
}


@value
class CollectedSpan:
    """A span; `service` is the function that it was in, `parent_id` empty for none."""

    service: str
    name: str
    kind: str
    trace_id: str
    span_id: str
    parent_id: str
    started_ns: int
    duration_ns: int
    attributes: dict[str, Any]
    is_error: bool


def read_spans(body: bytes) -> Iterator[CollectedSpan]:
    """Read a request of OTLP. Raises google.protobuf's DecodeError."""
    request = ExportTraceServiceRequest()
    request.ParseFromString(body)  # type: ignore[no-untyped-call]  # protobuf has no types
    for group in request.resource_spans:
        service = _read_attributes(group.resource.attributes)["service.name"]
        for scope in group.scope_spans:
            yield from (_read_span(service, span) for span in scope.spans)


def _read_span(service: str, span: Span) -> CollectedSpan:
    return CollectedSpan(
        service=service,
        name=span.name,
        kind=Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_").lower(),
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        started_ns=span.start_time_unix_nano,
        duration_ns=span.end_time_unix_nano - span.start_time_unix_nano,
        attributes=_read_attributes(span.attributes),
        is_error=span.status.code == span.status.STATUS_CODE_ERROR,
    )


def _read_attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: _read_value(pair.value) for pair in pairs}


def _read_value(attribute: AnyValue) -> Any:
    kind = attribute.WhichOneof("value")
    if kind == "array_value":
        return [_read_value(item) for item in attribute.array_value.values]
    return getattr(attribute, kind) if kind else None


def build_collector(collect: Callable[[bytes, Request], None]) -> Starlette:
    """Build the server that gives each request's body to `collect`."""

    async def take(request: Request) -> Response:
        collect(await request.body(), request)
        answer: bytes = ExportTraceServiceResponse().SerializeToString()  # type: ignore[no-untyped-call]  # so here
        return Response(answer, media_type="application/x-protobuf")

    return Starlette(routes=[Route("/v1/traces", take, methods=["POST"])])


def format_trace(spans: Sequence[CollectedSpan]) -> str:
    """Format the spans of one trace as a tree, a line each, in the order in which they began."""
    ids = {span.span_id for span in spans}
    roots = [span for span in spans if span.parent_id not in ids]
    lines = [line for root in _sort(roots) for line in _format_tree(root, spans, depth=0)]
    return "\n".join([f"trace {spans[0].trace_id}", *lines])


def _format_tree(span: CollectedSpan, spans: Sequence[CollectedSpan], depth: int) -> Iterator[str]:
    name = f"{'  ' * (depth + 1)}{span.name}"
    details = ", ".join(
        text.format(span.attributes[key])
        for key, text in _DETAILS.items()
        if key in span.attributes
    )
    yield f"{name:<58} {span.service:<26} {span.duration_ns / 1e6:>9.1f} ms  {details}".rstrip()
    for child in _sort(each for each in spans if each.parent_id == span.span_id):
        yield from _format_tree(child, spans, depth + 1)


def _sort(spans: Iterable[CollectedSpan]) -> list[CollectedSpan]:
    return sorted(spans, key=lambda span: span.started_ns)


class TracePrinter:
    """Keeps the last traces, and prints each when it has been quiet for a while."""

    def __init__(self, write: Callable[[str], None], *, quiet_s: float = QUIET_S) -> None:
        self._write = write
        self._quiet_s = quiet_s
        self._traces: OrderedDict[str, dict[str, CollectedSpan]] = OrderedDict()
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def collect(self, body: bytes, _: Request) -> None:
        for span in read_spans(body):
            self._traces.setdefault(span.trace_id, {})[span.span_id] = span
            self._print_when_quiet(span.trace_id)
        while len(self._traces) > MAX_TRACES:
            self._traces.popitem(last=False)

    def _print_when_quiet(self, trace_id: str) -> None:
        if timer := self._timers.pop(trace_id, None):
            timer.cancel()
        loop = asyncio.get_running_loop()
        self._timers[trace_id] = loop.call_later(self._quiet_s, self._print, trace_id)

    def _print(self, trace_id: str) -> None:
        del self._timers[trace_id]
        if spans := self._traces.get(trace_id):
            self._write(format_trace([*spans.values()]))


def main() -> int:
    """Collect until stopped; on an error print one line and return 1."""
    app = build_collector(TracePrinter(lambda text: print(text, flush=True)).collect)
    try:
        listener = socket.create_server(("127.0.0.1", PORT))
    except OSError as error:
        reason = str(error.strerror).partition(" (")[0]
        print(
            f"keepsake: cannot listen on 127.0.0.1:{PORT} ({reason}): stop the collector that "
            "listens there",
            file=sys.stderr,
        )
        return 1
    print(
        f"Waiting for spans: OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:{PORT} make run",
        flush=True,
    )
    with suppress(KeyboardInterrupt):
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
    return 0


if __name__ == "__main__":
    sys.exit(main())
