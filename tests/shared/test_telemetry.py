"""One line per request, whoever works for it (C75)."""

import asyncio

import pytest

from shared import telemetry
from tests.log import logged

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CARRIED = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01", "x-request-id": "r1"}


async def work(reads: int) -> None:
    with telemetry.stage("store"):
        telemetry.count(reads=reads)
        telemetry.mark("first_token")
    with telemetry.tool("search") as call:
        call.failed = reads == 2


async def test_c75_what_child_tasks_count_stands_in_the_requests_line() -> None:
    with logged() as log, telemetry.request("shop", carried=CARRIED, route="GET /"):
        await asyncio.gather(work(1), work(2), work(4))
        telemetry.note(outcome="sold")

    (line,) = log.lines
    assert (line["function"], line["route"], line["outcome"]) == ("shop", "GET /", "sold")
    assert line["reads"] == 7
    assert set(line["stages"]) == {"store", "first_token"}
    assert [(tool["tool"], tool["failed"]) for tool in line["tools"]] == [
        ("search", False),
        ("search", True),
        ("search", False),
    ]


async def test_c75_two_requests_at_once_do_not_mix() -> None:
    async def serve(name: str, reads: int) -> None:
        with telemetry.request(name):
            await asyncio.gather(work(reads), work(reads))

    with logged() as log:
        await asyncio.gather(serve("one", 1), serve("other", 10))

    assert {line["function"]: line["reads"] for line in log.lines} == {"one": 2, "other": 20}


def test_c75_every_line_of_a_request_names_its_trace_as_cloud_logging_reads_it() -> None:
    with logged(project="shop-1") as log, telemetry.request("shop", carried=CARRIED):
        telemetry.warning("till_empty")

    for line in log.lines:
        assert line["trace_id"] == TRACE
        assert line["request_id"] == "r1"
        assert line["logging.googleapis.com/trace"] == f"projects/shop-1/traces/{TRACE}"


def test_c75_a_request_that_breaks_has_its_line_too() -> None:
    with logged() as log, pytest.raises(LookupError), telemetry.request("shop"):
        raise LookupError

    assert [line["outcome"] for line in log.requests()] == ["LookupError"]


def test_c75_a_tool_that_is_cut_off_counts_as_failed() -> None:
    with (
        logged() as log,
        telemetry.request("shop"),
        pytest.raises(TimeoutError),
        telemetry.tool("search"),
    ):
        raise TimeoutError

    assert log.lines[0]["tools"][0]["failed"]


def test_c75_an_envelopes_trace_takes_the_place_of_the_requests() -> None:
    with logged() as log, telemetry.request("shop"):
        telemetry.join(CARRIED)
        carried_on = telemetry.trace()

    assert TRACE in carried_on["traceparent"]
    assert log.lines[0]["trace_id"] == TRACE


def test_outside_a_request_nothing_is_counted_or_carried_on() -> None:
    telemetry.note(outcome="sold")
    telemetry.count(reads=1)
    telemetry.mark("first_token")
    telemetry.join(CARRIED)

    assert telemetry.facts() == {}
    assert telemetry.trace() == {}
