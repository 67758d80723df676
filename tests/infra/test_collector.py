"""Collector on this machine: a trace is a tree of lines (D7)."""

from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue

from infra.collector import TracePrinter, build_collector
from shared import spans, telemetry
from shared.adapters.otlp_spans import OtlpSpans
from shared.spans import open_leaf, open_span
from tests.servers import run_server

TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
HEADERS = {"traceparent": f"00-{TRACE_ID}-00f067aa0ba902b7-01"}
CALL = {"gen_ai.usage.input_tokens": 12, "gen_ai.usage.output_tokens": 3}


@contextmanager
def run_printer() -> Iterator["SimpleQueue[str]"]:
    """Run a collector that prints into a queue, and send spans there."""
    printed: SimpleQueue[str] = SimpleQueue()
    with run_server(build_collector(TracePrinter(printed.put, quiet_s=0.2).collect)) as url:
        spans.send_to(OtlpSpans(endpoint=url, headers={}).send)
        yield printed
        spans.send_to(None)


def test_a_trace_is_printed_as_a_tree_over_its_functions_d7() -> None:
    with run_printer() as printed:
        with (
            telemetry.log_request("chat", trace_headers=HEADERS, route="POST /v2/messages"),
            open_span("invoke_agent keepsake"),
        ):
            with open_leaf("chat gpt-6-sol", kind="client", attributes=CALL):
                pass
            with open_span("send turn.ended", kind="producer"):
                headers = telemetry.get_trace_headers()
        with telemetry.log_request("after_turn", trace_headers=headers, status=503):
            pass
        text = printed.get(timeout=30)
        while "after_turn" not in text:
            text = printed.get(timeout=30)

    lines = text.splitlines()
    assert lines[0] == f"trace {TRACE_ID}"
    assert [line.partition(" ms")[0].rsplit(maxsplit=2)[0] for line in lines[1:]] == [
        "  POST /v2/messages",
        "    invoke_agent keepsake",
        "      chat gpt-6-sol",
        "      send turn.ended",
        "        after_turn",
    ]
    assert lines[3].endswith("ms  12 tokens in, 3 out")
    assert lines[5].endswith("ms  status 503, error 503")


def test_a_part_whose_parent_did_not_come_is_a_root_d7() -> None:
    with run_printer() as printed:
        for _ in range(2):
            with telemetry.log_request("shop", trace_headers=HEADERS):
                pass
        text = printed.get(timeout=30)
        while len(text.splitlines()) < 3:
            text = printed.get(timeout=30)

    assert text.splitlines()[0] == f"trace {TRACE_ID}"
