"""Spans over real OTLP: what a collector reads, and what one that is slow or away may cost (D7)."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from infra.emulators.process import find_free_port
from shared import spans, telemetry
from shared.adapters.otlp_spans import MAX_WAITING_REQUESTS, OtlpSpans
from shared.spans import Attributes, open_leaf, open_span
from tests.e2e.waiting import wait_until
from tests.log import CapturedLog, capture_log
from tests.servers import run_server
from tests.servers.collector import Collector, run_collector

TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT_ID = "00f067aa0ba902b7"
HEADERS = {"traceparent": f"00-{TRACE_ID}-{PARENT_ID}-01"}


@pytest.fixture
def collector() -> Iterator[Collector]:
    with run_collector() as collector, sending_to(collector.url):
        yield collector


@contextmanager
def sending_to(endpoint: str) -> Iterator[None]:
    spans.send_to(OtlpSpans(endpoint=endpoint, headers={"api-key": "k"}).send)
    yield
    spans.send_to(None)


def test_a_collector_reads_names_places_attributes_and_failures_d7(collector: Collector) -> None:
    attributes: Attributes = {"tokens": 3, "ends": ["stop"]}
    with (
        telemetry.log_request("shop", trace_headers=HEADERS, route="POST /orders", status=503),
        open_span("chat gpt", kind="client", attributes=attributes),
    ):
        pass
    call, request = wait_until(lambda: collector.spans or None)

    assert (request.service, request.name, request.kind) == ("shop", "POST /orders", "server")
    assert (request.trace_id, request.parent_id) == (TRACE_ID, PARENT_ID)
    assert request.attributes == {
        "http.request.method": "POST", "http.route": "/orders", "http.response.status_code": 503, "error.type": "503",
    }  # fmt: skip
    assert request.is_error
    assert (call.name, call.kind, call.parent_id) == ("chat gpt", "client", request.span_id)
    assert call.attributes == {"tokens": 3, "ends": ["stop"]}
    assert not call.is_error
    assert 0 <= call.duration_ns <= request.duration_ns
    assert collector.headers[0]["api-key"] == "k"


def test_a_collector_that_does_not_answer_delays_nothing_and_keeps_a_bounded_number_d7() -> None:
    """Requests end while it has the first one; it gets as many as may wait, and the log says the rest."""
    first_is_there, may_answer = Event(), Event()
    counted: list[int] = []

    def collect(_: Request) -> Response:
        counted.append(1)
        first_is_there.set()
        may_answer.wait(30)
        return Response()

    app = Starlette(routes=[Route("/v1/traces", collect, methods=["POST"])])
    with run_server(app) as url, capture_log() as log, sending_to(url):
        make_request()
        assert first_is_there.wait(30)
        for _ in range(MAX_WAITING_REQUESTS + 10):
            make_request()
        counted_before_answer = len(counted)
        may_answer.set()
        wait_until(lambda: len(counted) == MAX_WAITING_REQUESTS + 1 or None)
        lost = wait_until(lambda: find_lost(log))

    assert counted_before_answer == 1
    assert lost == 2 * 10


def test_a_collector_that_stays_away_fills_no_log_d7() -> None:
    answered: list[int] = []

    async def refuse(_: Request) -> Response:
        answered.append(1)
        return Response(status_code=400)

    app = Starlette(routes=[Route("/v1/traces", refuse, methods=["POST"])])
    with run_server(app) as url, capture_log() as log, sending_to(url):
        for _ in range(32):
            make_request()
        wait_until(lambda: len(answered) == 32 or None)
        wait_until(lambda: (find_lost(log) or 0) > 32 or None)

    lines = [line for line in log.lines if line["message"] == "spans_lost"]
    assert len(lines) < 8


def make_request() -> None:
    with telemetry.log_request("shop"), open_leaf("read"):
        pass


def find_lost(log: CapturedLog) -> int | None:
    counts = [line["count"] for line in log.lines if line["message"] == "spans_lost"]
    return max(counts, default=None)


@pytest.mark.parametrize("status", [None, 400])
def test_an_absent_or_refusing_collector_is_a_line_in_the_log_d7(status: int | None) -> None:
    async def refuse(_: Request) -> Response:
        return Response("no, with words", status_code=status or 500)

    app = Starlette(routes=[Route("/v1/traces", refuse, methods=["POST"])])
    away = f"http://127.0.0.1:{find_free_port()}"
    with run_server(app) as url, capture_log() as log, sending_to(url if status else away):
        make_request()
        lost = wait_until(lambda: find_lost(log))

    assert lost == 2
    assert "with words" not in log.text
