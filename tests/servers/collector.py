"""OpenTelemetry collector on loopback: takes OTLP over HTTP, as protobuf, and lists what came."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.servers import run_server


@dataclass(frozen=True, kw_only=True)
class CollectedSpan:
    """A span; `service` is the function that it was in, `parent_id` empty for none."""

    service: str
    name: str
    kind: str
    trace_id: str
    span_id: str
    parent_id: str
    duration_ns: int
    attributes: dict[str, Any]
    is_error: bool


class Collector:
    """What has come so far, in its order; `bodies` are the requests as they were sent."""

    def __init__(self) -> None:
        self.url = ""
        self.spans: list[CollectedSpan] = []
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.app = Starlette(routes=[Route("/v1/traces", self._collect, methods=["POST"])])

    def list_trace(self, trace_id: str) -> list[CollectedSpan]:
        return [span for span in self.spans if span.trace_id == trace_id]

    def find_spans(self, trace_id: str) -> set[tuple[str, str]]:
        """Return service and name of each span of a trace."""
        return {(span.service, span.name) for span in self.list_trace(trace_id)}

    def find_parents(self, trace_id: str) -> dict[tuple[str, str], set[tuple[str, str] | None]]:
        """Return service and name of each span with those of its parents; None is outside."""
        by_id = {span.span_id: (span.service, span.name) for span in self.list_trace(trace_id)}
        parents: dict[tuple[str, str], set[tuple[str, str] | None]] = {}
        for span in self.list_trace(trace_id):
            parents.setdefault((span.service, span.name), set()).add(by_id.get(span.parent_id))
        return parents

    async def _collect(self, request: Request) -> Response:
        body = await request.body()
        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            service = read_attributes(group.resource.attributes)["service.name"]
            self.spans += [
                read_span(service, span) for scope in group.scope_spans for span in scope.spans
            ]
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        return Response(
            ExportTraceServiceResponse().SerializeToString(), media_type="application/x-protobuf"
        )


def read_span(service: str, span: Span) -> CollectedSpan:
    return CollectedSpan(
        service=service,
        name=span.name,
        kind=Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_").lower(),
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        duration_ns=span.end_time_unix_nano - span.start_time_unix_nano,
        attributes=read_attributes(span.attributes),
        is_error=span.status.code == span.status.STATUS_CODE_ERROR,
    )


def read_attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: read_value(pair.value) for pair in pairs if isinstance(pair, KeyValue)}


def read_value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [read_value(item) for item in value.array_value.values]
    return getattr(value, kind) if kind else None


@contextmanager
def run_collector() -> Iterator[Collector]:
    collector = Collector()
    with run_server(collector.app) as collector.url:
        yield collector
