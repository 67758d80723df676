"""Every request is one log line and part of one trace, whatever answers it."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shared import telemetry

ECHOED = "x-request-id"


class Traced:
    """Around a function's application: the line is written when all is sent and all work is done."""

    def __init__(self, app: ASGIApp, *, function: str) -> None:
        self._app = app
        self._function = function

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        carried = Headers(scope=scope)
        with telemetry.request(self._function, carried=carried) as record:
            await self._app(scope, receive, _marked(send, record))


def _marked(send: Send, record: telemetry.Record) -> Send:
    """Put the request's id on its answer, and the answer's status on its line."""

    async def marked(message: Message) -> None:
        if message["type"] == "http.response.start":
            status = message["status"]
            record.note_missing(status=status, outcome=_outcome(status))
            MutableHeaders(scope=message)[ECHOED] = record.trace.request_id
        await send(message)

    return marked


def _outcome(status: int) -> str:
    if status < 400:
        return "ok"
    return "refused" if status < 500 else "failed"
