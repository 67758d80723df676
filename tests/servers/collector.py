"""OpenTelemetry collector on loopback: takes OTLP over HTTP, as protobuf, and lists what came."""

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.requests import Request

from infra.collector import CollectedSpan, build_collector, read_spans
from tests.servers import run_server

Place = tuple[str, str]
"""The function of a span, and its name."""


class Collector:
    """What has come so far, in its order; `bodies` and `headers` are those of the requests."""

    def __init__(self) -> None:
        self.url = ""
        self.spans: list[CollectedSpan] = []
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.app = build_collector(self._collect)

    def list_trace(self, trace_id: str) -> list[CollectedSpan]:
        return [span for span in self.spans if span.trace_id == trace_id]

    def find_places(self, trace_id: str) -> set[Place]:
        return {(span.service, span.name) for span in self.list_trace(trace_id)}

    def find_parents(self, trace_id: str) -> dict[Place, set[Place | None]]:
        """Return the parents of the spans of each place; None is outside of what came."""
        trace = self.list_trace(trace_id)
        places = {span.span_id: (span.service, span.name) for span in trace}
        parents: dict[Place, set[Place | None]] = {}
        for span in trace:
            parents.setdefault(places[span.span_id], set()).add(places.get(span.parent_id))
        return parents

    def _collect(self, body: bytes, request: Request) -> None:
        self.spans += read_spans(body)
        self.bodies.append(body)
        self.headers.append(dict(request.headers))


@contextmanager
def run_collector() -> Iterator[Collector]:
    collector = Collector()
    with run_server(collector.app) as collector.url:
        yield collector
