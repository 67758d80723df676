"""Terminal log of the local server (C75)."""

import io
import logging
import re

import pytest

from infra.local.terminal_log import TerminalFormatter

ESCAPES = re.compile(r"\x1b\[\d*m")


def format_line(event: str, *, level: int = logging.INFO, **fields: object) -> str:
    record = logging.LogRecord("keepsake", level, "", 0, event, (), None)
    record.facts = fields
    return ESCAPES.sub("", TerminalFormatter().format(record))


def test_a_request_is_one_short_line_c75():
    line = format_line(
        "request",
        trace_id="4bf92f",
        function="library",
        route="GET /v1/goals",
        status=200,
        reads=3,
        stages={"store": 1.5},
        ms=4.2,
    )

    assert re.fullmatch(r"\d\d:\d\d:\d\d library: GET /v1/goals 200 4\.2 ms", line)


def test_another_event_shows_its_fields_c75():
    line = format_line("call_failed", level=logging.WARNING, trace_id="4bf92f", error="timeout")

    assert line.endswith(" call_failed error=timeout")


@pytest.mark.parametrize(
    ("level", "colour"), [(logging.WARNING, "\x1b[33m"), (logging.ERROR, "\x1b[31m")]
)
def test_what_needs_attention_has_a_colour_c75(level, colour):
    record = logging.LogRecord("keepsake", level, "", 0, "odd", (), None)

    assert colour in TerminalFormatter().format(record)


def test_a_failure_keeps_its_trace_c75():
    log, stream = logging.getLogger("terminal-test"), io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(TerminalFormatter())
    log.addHandler(handler)
    log.propagate = False
    try:
        int("no such thing")
    except ValueError:
        log.exception("failed")

    assert "no such thing" in stream.getvalue()
