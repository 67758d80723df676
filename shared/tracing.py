"""Which trace a piece of work belongs to, as W3C Trace Context writes it."""

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
    """The trace, this function's own span in it, and the client's request all of it serves."""

    trace_id: str
    span_id: str
    request_id: str

    @property
    def headers(self) -> dict[str, str]:
        """What carries the trace on: headers of a call, attributes of a message."""
        parent = f"00-{self.trace_id}-{self.span_id}-01"
        return {"traceparent": parent, "x-request-id": self.request_id}


def parse_trace(headers: Mapping[str, str]) -> Trace:
    """Return a new span in the trace that lower-case `carried` names, or in a new one.

    Names: `traceparent`, `ce-traceparent` of a CloudEvent, `x-cloud-trace-context` of Cloud Run, and
    `x-request-id`. What does not read as an id is as good as missing: it comes from anybody.
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
