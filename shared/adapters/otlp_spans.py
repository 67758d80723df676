"""Spans to an OpenTelemetry collector: OTLP over HTTP, from a thread beside the requests.

Also called: trace exporter.
"""

import logging
from collections.abc import Mapping, Sequence
from functools import cached_property
from queue import Full, Queue
from threading import Thread
from typing import TYPE_CHECKING

from shared import telemetry
from shared.spans import Span
from shared.tracing import Trace

if TYPE_CHECKING:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import SpanContext

MAX_WAITING_REQUESTS = 64
"""So many requests wait for the collector; the spans of further ones are lost."""
TIMEOUT_S = 5.0
_SAMPLED = 1

Waiting = Queue[tuple[str, Sequence[Span]]]


class OtlpSpans:
    """Takes spans without waiting; the log counts what a slow or absent collector lost.

    Thread and libraries come with the first request: the server may fork before it, and a cold
    start pays for neither.
    """

    def __init__(self, *, endpoint: str, headers: Mapping[str, str]) -> None:
        self._endpoint = endpoint
        self._headers = headers
        self._dropped = 0

    def send(self, function: str, spans: Sequence[Span]) -> None:
        try:
            self._waiting.put_nowait((function, spans))
        except Full:
            self._dropped += len(spans)

    @cached_property
    def _waiting(self) -> Waiting:
        """Open the queue, with the thread that empties it."""
        waiting = Waiting(MAX_WAITING_REQUESTS)
        Thread(target=self._export_all, args=[waiting], name="spans", daemon=True).start()
        return waiting

    @cached_property
    def _exporter(self) -> "OTLPSpanExporter":
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        logging.getLogger("opentelemetry.exporter.otlp").setLevel(logging.CRITICAL)
        endpoint = f"{self._endpoint}/v1/traces"
        return OTLPSpanExporter(endpoint, headers=self._headers, timeout=TIMEOUT_S)

    def _export_all(self, waiting: Waiting) -> None:
        """Export request by request, for as long as the process lives."""
        refused = reported = 0
        while True:
            function, spans = waiting.get()
            if not self._export(function, spans):
                refused += len(spans)
            lost = refused + self._dropped
            if lost > 2 * reported:  # the longer it is away, the less often the log says so
                telemetry.warning("spans_lost", count=lost)
                reported = lost

    def _export(self, function: str, spans: Sequence[Span]) -> bool:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace.export import SpanExportResult

        resource = Resource({"service.name": function, "service.namespace": "keepsake"})
        result = self._exporter.export([_to_readable_span(span, resource) for span in spans])
        return result is SpanExportResult.SUCCESS


def _to_readable_span(span: Span, resource: "Resource") -> "ReadableSpan":
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanKind, Status, StatusCode

    error = {"error.type": span.error} if span.error else {}
    return ReadableSpan(
        span.name,
        _to_context(span.trace, span.trace.span_id),
        _to_context(span.trace, span.trace.parent_id) if span.trace.parent_id else None,
        resource,
        {**span.attributes, **error},
        kind=SpanKind[span.kind.upper()],
        status=Status(StatusCode.ERROR if span.error else StatusCode.UNSET),
        start_time=span.started_ns,
        end_time=span.ended_ns,
        instrumentation_scope=InstrumentationScope("keepsake"),
    )


def _to_context(trace: Trace, span_id: str) -> "SpanContext":
    from opentelemetry.trace import SpanContext, TraceFlags

    return SpanContext(
        int(trace.trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=TraceFlags(_SAMPLED)
    )
