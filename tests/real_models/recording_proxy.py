"""Proxy between our adapter and a model server: it notes each question with its refusal, and may change it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from json import dumps, loads
from typing import Any

import httpx
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

Body = dict[str, Any]


@dataclass
class RecordedCall:
    """A request as it was sent on; `refusal` is what the server said to it, empty for an answer."""

    body: Body
    refusal: str


@dataclass
class RecordingProxy:
    """Forwards requests to `origin`; `change` returns the body to send on."""

    origin: str
    change: Callable[[Body], Body] = lambda body: body
    calls: list[RecordedCall] = field(default_factory=list)

    @property
    def refusals(self) -> list[str]:
        return [call.refusal for call in self.calls if call.refusal]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        content = await request.body()
        is_question = scope["path"].endswith("/chat/completions")
        body = self.change(loads(content)) if is_question else {}
        url = f"{self.origin}{scope['path']}?{scope['query_string'].decode()}"
        headers = {"Authorization": request.headers.get("authorization", "")}
        async with (
            httpx.AsyncClient(timeout=600, trust_env=False) as client,
            client.stream(
                request.method,
                url,
                headers=headers,
                content=dumps(body) if is_question else content,
            ) as answer,
        ):
            refusal = b"" if answer.is_success else await answer.aread()
            if is_question:
                self.calls.append(RecordedCall(body, refusal.decode()))
            response = (
                Response(refusal, answer.status_code)
                if refusal
                else StreamingResponse(
                    answer.aiter_raw(), media_type=answer.headers.get("content-type")
                )
            )
            await response(scope, receive, send)
