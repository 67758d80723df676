"""Trace context of a request (W3C Trace Context): trace id, span id and request id."""

import re
from collections.abc import Mapping
from uuid import uuid4

from shared.domain.value import value

_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?")
_CLOUD_TRACE_CONTEXT = re.compile(r"([0-9a-fA-F]{32})(/.*)?")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_NO_TRACE_ID = "0" * 32


@value
class Trace:
    """The trace, this function's span in it, and the id of the client's request."""

    trace_id: str
    span_id: str
    request_id: str

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a call, or attributes of a message, that continue the trace."""
        parent = f"00-{self.trace_id}-{self.span_id}-01"
        return {"traceparent": parent, "x-request-id": self.request_id}


def parse_trace(headers: Mapping[str, str]) -> Trace:
    """Return a new span in the trace that the lower-case `headers` name, or in a new trace.

    Read: `traceparent`, `ce-traceparent` of a CloudEvent, `x-cloud-trace-context` of Cloud Run, and
    `x-request-id`. Values that are not well-formed ids are ignored: any client can send them.
    """
    request_id = headers.get("x-request-id", "")
    return Trace(
        trace_id=_parse_trace_id(headers) or uuid4().hex,
        span_id=uuid4().hex[:16],
        request_id=request_id if _REQUEST_ID.fullmatch(request_id) else uuid4().hex,
    )


def _parse_trace_id(headers: Mapping[str, str]) -> str | None:
    for name, pattern in (
        ("traceparent", _TRACEPARENT),
        ("ce-traceparent", _TRACEPARENT),
        ("x-cloud-trace-context", _CLOUD_TRACE_CONTEXT),
    ):
        match = pattern.fullmatch(headers.get(name, ""))
        if match and match[1] != _NO_TRACE_ID:
            return match[1].lower()
    return None
