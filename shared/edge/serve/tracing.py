"""Tracing middleware: every request is one log line and part of one trace.

Also called: access log.
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shared import telemetry

REQUEST_ID_HEADER = "x-request-id"
_DELIVERY_HEADERS = ("ce-type", "x-cloudtasks-taskname")


class TracingMiddleware:
    """Writes the line of a request when its answer is sent and its work has ended.

    Only the callers of an internal function, which are ours, decide which traces are sent.
    """

    def __init__(self, app: ASGIApp, *, function: str, is_internal: bool) -> None:
        self._app = app
        self._function = function
        self._is_internal = is_internal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        with telemetry.log_request(
            self._function, trace_headers=headers, from_outside=not self._is_internal
        ) as record:
            if _is_delivery(headers):
                record.span.kind = "consumer"
            await self._app(scope, receive, _wrap_send(send, record))


def _is_delivery(headers: Headers) -> bool:
    """Tell whether a queue or a trigger calls; messages of a topic say so themselves."""
    return any(name in headers for name in _DELIVERY_HEADERS)


def _wrap_send(send: Send, record: telemetry.RequestRecord) -> Send:
    """Add the request id to the answer's headers, and the answer's status to the log line."""

    async def send_with_request_id(message: Message) -> None:
        if message["type"] == "http.response.start":
            status = message["status"]
            record.add_missing_fields(status=status, outcome=_to_outcome(status))
            MutableHeaders(scope=message)[REQUEST_ID_HEADER] = record.trace.request_id
        await send(message)

    return send_with_request_id


def _to_outcome(status: int) -> str:
    if status < 400:
        return "ok"
    return "refused" if status < 500 else "failed"
