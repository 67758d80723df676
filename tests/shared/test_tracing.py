"""Trace context: well-formed headers continue a trace, others start one (C75)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.tracing import parse_trace

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


@pytest.mark.parametrize(
    "headers",
    [
        {"traceparent": PARENT},
        {"traceparent": f"cc-{TRACE}-00f067aa0ba902b7-01-what-comes-later"},
        {"ce-traceparent": PARENT},
        {"x-cloud-trace-context": f"{TRACE}/67667974448284343;o=1"},
        {"x-cloud-trace-context": TRACE.upper()},
        {"traceparent": PARENT, "x-cloud-trace-context": "1" * 32},
        {"traceparent": "nonsense", "x-cloud-trace-context": TRACE},
    ],
    ids=str,
)
def test_an_incoming_trace_continues_in_a_new_span_c75(headers: dict[str, str]) -> None:
    trace = parse_trace(headers)

    assert trace.trace_id == TRACE
    assert trace.span_id != "00f067aa0ba902b7"
    assert trace.headers["traceparent"] == f"00-{TRACE}-{trace.span_id}-01"


@pytest.mark.parametrize(
    "headers",
    [
        {"traceparent": PARENT},
        {"ce-traceparent": PARENT},
        {"x-cloud-trace-context": f"{TRACE}/{0x00F067AA0BA902B7}"},
        {"x-cloud-trace-context": f"{TRACE}/{0x00F067AA0BA902B7};o=1"},
        {"traceparent": PARENT, "tracestate": "rojo=1, congo=t61rcWkgMzE"},
    ],
    ids=str,
)
def test_the_span_that_caused_a_request_is_its_parent_d7(headers: dict[str, str]) -> None:
    assert parse_trace(headers).parent_id == "00f067aa0ba902b7"


@pytest.mark.parametrize("others", ["", "rojo=1,", "congo=2 , rojo=1 ,\t"])
def test_our_span_is_the_parent_also_behind_a_proxy_that_names_its_own_d7(others: str) -> None:
    caller = parse_trace({"traceparent": PARENT}).open_child()
    headers = {**caller.headers, "traceparent": f"00-{TRACE}-{'1' * 16}-01"}

    trace = parse_trace({**headers, "tracestate": others + headers["tracestate"]})

    assert (trace.trace_id, trace.parent_id) == (TRACE, caller.span_id)


@pytest.mark.parametrize(
    "tracestate",
    [
        "keepsake=xyz",
        "keepsake=00f067aa0ba902b71",
        f"keepsake={'0' * 16}",
        f"notkeepsake={'2' * 16}",
    ],
)
def test_an_invalid_span_of_ours_leaves_the_parent_as_it_is_d7(tracestate: str) -> None:
    trace = parse_trace({"traceparent": PARENT, "tracestate": tracestate})

    assert trace.parent_id == "00f067aa0ba902b7"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tracestate", "keepsake=00f067aa0ba902b7"),  # of no trace
        ("x-cloud-trace-context", f"{TRACE}/0"),
        ("x-cloud-trace-context", f"{TRACE}/{2**64}"),
        ("traceparent", f"00-{TRACE}-{'0' * 16}-01"),
    ],
)
def test_an_invalid_span_is_no_parent_d7(name: str, text: str) -> None:
    assert parse_trace({name: text}).parent_id is None


@pytest.mark.parametrize(
    "header", ["", "x", f"ff-{TRACE}-00f067aa0ba902b7-01", f"00-{'0' * 32}-00f067aa0ba902b7-01"]
)
def test_an_invalid_trace_header_starts_a_new_trace_c75(header: str) -> None:
    first, second = parse_trace({"traceparent": header}), parse_trace({"traceparent": header})

    assert first.trace_id != second.trace_id
    assert first.trace_id not in header


@given(header=st.text())
def test_a_request_id_cannot_inject_into_a_header_or_log_line_c75(header: str) -> None:
    request_id = parse_trace({"x-request-id": header}).request_id

    assert request_id.isascii()
    assert request_id.isprintable()
    assert " " not in request_id
    assert 1 <= len(request_id) <= 64


@given(header=st.text())
def test_forwarded_trace_headers_parse_to_the_same_trace_c75(header: str) -> None:
    trace = parse_trace(
        {"traceparent": header, "x-cloud-trace-context": header, "x-request-id": header}
    )

    forwarded_trace = parse_trace(trace.headers)

    assert (forwarded_trace.trace_id, forwarded_trace.request_id) == (
        trace.trace_id,
        trace.request_id,
    )


def test_a_valid_client_request_id_is_preserved_c75() -> None:
    assert parse_trace({"x-request-id": "build-7.2_a"}).request_id == "build-7.2_a"
