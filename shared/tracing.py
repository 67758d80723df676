"""Trace context of a span (W3C Trace Context): trace id, span ids and request id.

Also called: distributed tracing, correlation id.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from uuid import uuid4

from shared.domain.value import value

_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?")
_CLOUD_TRACE_CONTEXT = re.compile(r"([0-9a-fA-F]{32})(?:/([0-9]{1,20})?.*)?")
_OWN_TRACESTATE = re.compile(r"(?:^|,)[ \t]*keepsake=([0-9a-f]{16})(?:\.([01]))?[ \t]*(?=,|$)")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_NO_TRACE_ID = "0" * 32
_NO_SPAN_ID = "0" * 16
_RANDOM_DIGITS = 8
"""So many hex digits begin each span id of ours, all of them random."""


@value
class Trace:
    """The place of a span: its trace, its parent there, and the id of the client's request.

    `is_sampled` tells whether its spans are sent; None: nobody decided that yet.
    """

    trace_id: str
    span_id: str
    request_id: str
    parent_id: str | None = None
    is_sampled: bool | None = None

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a call, or attributes of a message, that continue the trace."""
        decision = "" if self.is_sampled is None else f".{self.is_sampled:d}"
        return {
            "traceparent": f"00-{self.trace_id}-{self.span_id}-{self.is_sampled is not False:02d}",
            "tracestate": f"keepsake={self.span_id}{decision}",
            "x-request-id": self.request_id,
        }

    def open_child(self) -> "Trace":
        """Return the place of a new span within this one."""
        return replace(self, span_id=_build_span_id(), parent_id=self.span_id)

    def decide(self, share: float) -> "Trace":
        """Decide, where nobody did, whether it is one of a share, 0 to 1, of all that begin here.

        By our own random digits: clients choose trace ids, and so could choose to be sent.
        """
        if self.is_sampled is not None:
            return self
        position = int(self.span_id[:_RANDOM_DIGITS], 16) / 16**_RANDOM_DIGITS
        return replace(self, is_sampled=position < share)


def parse_trace(headers: Mapping[str, str], *, from_outside: bool = False) -> Trace:
    """Return a new span in the trace that the lower-case `headers` name, or in a new trace.

    Read: `traceparent`, `ce-traceparent` of a CloudEvent, `x-cloud-trace-context` of Cloud Run,
    `tracestate`, and `x-request-id`. A proxy between our functions may name a span of its own as the
    parent, which no collector of ours has; `tracestate` still names ours, and tells whether the trace
    is sent, unless it comes `from_outside`. Values that are not well-formed ids are ignored: any client
    can send them.
    """
    request_id = headers.get("x-request-id", "")
    trace_id, parent_id = _parse_parent(headers) or (uuid4().hex, None)
    return Trace(
        trace_id=trace_id,
        span_id=_build_span_id(),
        request_id=request_id if _REQUEST_ID.fullmatch(request_id) else uuid4().hex,
        parent_id=parent_id,
        is_sampled=None if from_outside or parent_id is None else _parse_decision(headers),
    )


def _build_span_id() -> str:
    return uuid4().hex[:16]


def _parse_parent(headers: Mapping[str, str]) -> tuple[str, str | None] | None:
    """Return the ids of a trace and of the span in it that caused this request, if it is named."""
    for name in ("traceparent", "ce-traceparent"):
        match = _TRACEPARENT.fullmatch(headers.get(name, ""))
        if match and match[1] != _NO_TRACE_ID:
            sender = match[2] if match[2] != _NO_SPAN_ID else None
            return match[1], _parse_own_span(headers) or sender
    match = _CLOUD_TRACE_CONTEXT.fullmatch(headers.get("x-cloud-trace-context", ""))
    if match and match[1] != _NO_TRACE_ID:
        return match[1].lower(), _parse_decimal_span(match[2])
    return None


def _parse_own_span(headers: Mapping[str, str]) -> str | None:
    match = _OWN_TRACESTATE.search(headers.get("tracestate", ""))
    return match[1] if match and match[1] != _NO_SPAN_ID else None


def _parse_decision(headers: Mapping[str, str]) -> bool | None:
    match = _OWN_TRACESTATE.search(headers.get("tracestate", ""))
    return match[2] == "1" if match and match[2] else None


def _parse_decimal_span(digits: str | None) -> str | None:
    number = int(digits or 0)
    return f"{number:016x}" if 0 < number < 2**64 else None
