"""Spans: nested as the work is, one batch a request, and only where somebody wants them (D7)."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import Any

import pytest
from httpx import ASGITransport, AsyncClient
from hypothesis import given
from hypothesis import strategies as st
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from shared import telemetry
from shared.edge.serve.tracing import TracingMiddleware
from shared.spans import MAX_SPANS, open_leaf, open_span
from shared.tracing import Trace, parse_trace
from tests.log import capture_log
from tests.spans import CapturedSpans, capture_spans

Tree = tuple[int, tuple["Tree", ...]]
"""Work: how often it pauses, and its parts, which run at once."""
TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT_ID = "00f067aa0ba902b7"
HEADERS = {"traceparent": f"00-{TRACE_ID}-{PARENT_ID}-01"}


@pytest.fixture
def sent() -> Iterator[CapturedSpans]:
    with capture_spans() as captured:
        yield captured


async def test_spans_nest_as_the_work_does_also_in_tasks_of_their_own_d7(
    sent: CapturedSpans,
) -> None:
    async def search(name: str) -> None:
        with open_span(name):
            await asyncio.sleep(0)
            with open_leaf(f"embed {name}"):
                await asyncio.sleep(0)

    with telemetry.log_request("shop", trace_headers=HEADERS, route="GET /"):
        with open_span("turn"):
            await asyncio.gather(search("one"), search("other"))
        with open_leaf("end"):
            pass

    assert sent.list_parents() == {
        "GET /": PARENT_ID, "turn": "GET /", "one": "turn", "other": "turn",
        "embed one": "one", "embed other": "other", "end": "GET /",
    }  # fmt: skip
    assert {span.trace.trace_id for _, batch in sent.requests for span in batch} == {TRACE_ID}


PAUSES = st.integers(0, 2)
TREES: st.SearchStrategy[Tree] = st.recursive(
    st.tuples(PAUSES, st.just(())),
    lambda tree: st.tuples(PAUSES, st.lists(tree, max_size=3).map(tuple)),
    max_leaves=12,
)


@given(tree=TREES)
def test_every_tree_of_work_is_the_same_tree_of_spans_d7(tree: Tree) -> None:
    """Each span is named by its place: a.0.1 is the second part of the first part of a."""

    async def work(tree: Tree, place: str) -> None:
        pauses, parts = tree
        with open_span(place):
            for _ in range(pauses):
                await asyncio.sleep(0)
            await asyncio.gather(*(work(part, f"{place}.{n}") for n, part in enumerate(parts)))

    async def serve() -> None:
        with telemetry.log_request("shop"):
            await work(tree, "a")

    with capture_spans() as sent:
        asyncio.run(serve())

    parents = sent.list_parents()
    assert parents.pop("shop") is None
    assert parents.pop("a") == "shop"
    assert all(parent == place.rpartition(".")[0] for place, parent in parents.items())


async def test_a_span_that_a_generator_holds_open_has_no_parts_d7(sent: CapturedSpans) -> None:
    async def stream() -> AsyncGenerator[int, None]:
        with open_leaf("model"):
            yield 1
            yield 2

    with telemetry.log_request("shop"):
        async with aclosing(stream()) as items:
            async for _ in items:
                with open_span("work"):
                    break

    assert sent.list_parents()["work"] == "shop"
    assert sent.list_parents()["model"] == "shop"


def test_a_call_names_the_span_that_it_is_made_in_d7(sent: CapturedSpans) -> None:
    with telemetry.log_request("shop"), open_span("send order", kind="producer"):
        headers = telemetry.get_trace_headers()
    with telemetry.log_request("store"):
        telemetry.continue_trace(headers)

    assert sent.list_parents()["process store"] == "send order"
    assert [batch[-1].kind for _, batch in sent.requests] == ["server", "consumer"]


def test_a_failure_is_an_error_of_each_span_that_it_ends_d7(sent: CapturedSpans) -> None:
    with (
        capture_log() as log,
        pytest.raises(LookupError),
        telemetry.log_request("shop"),
        open_span("turn"),
    ):
        raise LookupError("secret words")

    [(_, batch)] = sent.requests
    assert [span.error for span in batch] == ["LookupError", "LookupError"]
    assert len(log.find_requests()) == 1


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"status": 200}, None),
        ({"status": 404, "error": "NotFound"}, None),
        ({"status": 500}, "500"),
        ({"status": 503, "error": "Unavailable"}, "Unavailable"),
    ],
)
def test_only_failures_of_ours_are_errors_of_a_request_d7(
    sent: CapturedSpans, fields: dict[str, Any], error: str | None
) -> None:
    with telemetry.log_request("shop", **fields):
        pass

    [(_, [request])] = sent.requests
    assert request.error == error
    assert request.attributes["http.response.status_code"] == fields["status"]


def test_of_a_request_with_many_spans_the_first_are_sent_and_the_request_d7(
    sent: CapturedSpans,
) -> None:
    with telemetry.log_request("shop"):
        for number in range(MAX_SPANS + 5):
            with open_leaf(f"read {number}"):
                pass

    [(_, batch)] = sent.requests
    assert len(batch) == MAX_SPANS + 1
    assert batch[-1].name == "shop"


def test_spans_outside_a_request_are_sent_nowhere_d7(sent: CapturedSpans) -> None:
    with open_span("start"), open_leaf("read"):
        pass

    assert sent.requests == []


@given(share=st.floats(0, 1))
def test_every_function_of_ours_keeps_the_decision_of_the_first_d7(share: float) -> None:
    first = parse_trace(HEADERS).decide(share)
    second = parse_trace(first.open_child().headers)
    third = parse_trace(second.open_child().headers)

    assert first.is_sampled == second.is_sampled == third.is_sampled
    assert third.decide(1 - share) == third
    flag = "01" if first.is_sampled else "00"
    assert first.headers["traceparent"].endswith(flag)


@pytest.mark.parametrize(
    ("share", "expected"), [(0, range(1)), (0.25, range(800, 1_200)), (1, [4_000])]
)
def test_a_share_of_the_requests_from_outside_is_sent_whatever_they_ask_for_d7(
    share: float, expected: Sequence[int]
) -> None:
    asking = {
        "traceparent": f"00-{'1' * 24}{'0' * 8}-{PARENT_ID}-01",
        "tracestate": f"keepsake={PARENT_ID}.1",
    }
    traces = [parse_trace(asking, from_outside=True).decide(share) for _ in range(4_000)]

    assert sum(trace.is_sampled is True for trace in traces) in expected
    assert {trace.parent_id for trace in traces} == {PARENT_ID}


async def test_a_client_chooses_no_traces_to_be_sent_and_a_function_of_ours_does_d7() -> None:
    asking = Trace(trace_id=TRACE_ID, span_id=PARENT_ID, request_id="r", is_sampled=True).headers

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await Response()(scope, receive, send)

    with capture_spans(share=0) as captured:
        for is_internal in (False, True):
            app = TracingMiddleware(
                answer, function=f"internal {is_internal}", is_internal=is_internal
            )
            async with AsyncClient(
                transport=ASGITransport(app=app), base_url="http://test"
            ) as client:
                await client.get("/", headers=asking)

    assert [function for function, _ in captured.requests] == ["internal True"]
