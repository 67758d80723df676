"""Telemetry: one line per request, shared by all its tasks (C75)."""

import asyncio

import pytest

from shared import telemetry
from tests.log import capture_log

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACE_HEADERS = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01", "x-request-id": "r1"}


async def do_work(reads: int) -> None:
    with telemetry.measure_stage("store"):
        telemetry.count(reads=reads)
        telemetry.mark("first_token")
    with telemetry.measure_tool_call("search") as call:
        call.failed = reads == 2


async def test_counts_of_child_tasks_are_in_the_request_line_c75() -> None:
    with (
        capture_log() as log,
        telemetry.log_request("shop", trace_headers=TRACE_HEADERS, route="GET /"),
    ):
        await asyncio.gather(do_work(1), do_work(2), do_work(4))
        telemetry.add_fields(outcome="sold")

    (line,) = log.lines
    assert (line["function"], line["route"], line["outcome"]) == ("shop", "GET /", "sold")
    assert line["reads"] == 7
    assert set(line["stages"]) == {"store", "first_token"}
    assert [(tool["tool"], tool["failed"]) for tool in line["tools"]] == [
        ("search", False),
        ("search", True),
        ("search", False),
    ]


async def test_two_requests_at_once_do_not_mix_c75() -> None:
    async def serve(name: str, reads: int) -> None:
        with telemetry.log_request(name):
            await asyncio.gather(do_work(reads), do_work(reads))

    with capture_log() as log:
        await asyncio.gather(serve("one", 1), serve("other", 10))

    assert {line["function"]: line["reads"] for line in log.lines} == {"one": 2, "other": 20}


def test_every_line_of_a_request_names_its_trace_as_cloud_logging_reads_it_c75() -> None:
    with (
        capture_log(project="shop-1") as log,
        telemetry.log_request("shop", trace_headers=TRACE_HEADERS),
    ):
        telemetry.warning("till_empty")

    assert len(log.lines) == 2
    for line in log.lines:
        assert line["trace_id"] == TRACE
        assert line["request_id"] == "r1"
        assert line["logging.googleapis.com/trace"] == f"projects/shop-1/traces/{TRACE}"


def test_a_failing_request_is_logged_too_c75() -> None:
    with capture_log() as log, pytest.raises(LookupError), telemetry.log_request("shop"):
        raise LookupError

    assert [line["outcome"] for line in log.find_requests()] == ["LookupError"]


def test_an_interrupted_tool_call_counts_as_failed_c75() -> None:
    with (
        capture_log() as log,
        telemetry.log_request("shop"),
        pytest.raises(TimeoutError),
        telemetry.measure_tool_call("search"),
    ):
        raise TimeoutError

    assert log.lines[0]["tools"][0]["failed"]


def test_the_trace_of_an_envelope_replaces_the_trace_of_its_request_c75() -> None:
    with capture_log() as log, telemetry.log_request("shop"):
        telemetry.continue_trace(TRACE_HEADERS)
        outgoing_headers = telemetry.get_trace_headers()

    assert TRACE in outgoing_headers["traceparent"]
    assert log.lines[0]["trace_id"] == TRACE


def test_outside_a_request_nothing_is_recorded() -> None:
    telemetry.add_fields(outcome="sold")
    telemetry.count(reads=1)
    telemetry.mark("first_token")
    telemetry.continue_trace(TRACE_HEADERS)

    assert telemetry.get_fields() == {}
    assert telemetry.get_trace_headers() == {}
