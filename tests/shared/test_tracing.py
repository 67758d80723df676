"""Which trace a request goes on in, whatever it was sent (C75)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.tracing import continued

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


@pytest.mark.parametrize(
    "carried",
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
def test_c75_a_trace_that_is_sent_goes_on_in_a_span_of_our_own(carried: dict[str, str]) -> None:
    trace = continued(carried)

    assert trace.trace_id == TRACE
    assert trace.span_id != "00f067aa0ba902b7"
    assert trace.headers["traceparent"] == f"00-{TRACE}-{trace.span_id}-01"


@pytest.mark.parametrize(
    "sent", ["", "x", f"ff-{TRACE}-00f067aa0ba902b7-01", f"00-{'0' * 32}-00f067aa0ba902b7-01"]
)
def test_c75_what_names_no_trace_begins_one(sent: str) -> None:
    first, second = continued({"traceparent": sent}), continued({"traceparent": sent})

    assert first.trace_id != second.trace_id
    assert first.trace_id not in sent


@given(sent=st.text())
def test_c75_no_request_id_breaks_out_of_a_header_or_a_line(sent: str) -> None:
    kept = continued({"x-request-id": sent}).request_id

    assert kept.isascii()
    assert kept.isprintable()
    assert " " not in kept
    assert 1 <= len(kept) <= 64


@given(sent=st.text())
def test_c75_whatever_is_sent_what_we_carry_on_reads_as_it_was(sent: str) -> None:
    trace = continued({"traceparent": sent, "x-cloud-trace-context": sent, "x-request-id": sent})

    again = continued(trace.headers)

    assert (again.trace_id, again.request_id) == (trace.trace_id, trace.request_id)


def test_c75_a_clients_request_id_is_kept() -> None:
    assert continued({"x-request-id": "build-7.2_a"}).request_id == "build-7.2_a"
