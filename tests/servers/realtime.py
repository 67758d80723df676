"""Realtime on loopback: `/realtime/client_secrets` and `/realtime/calls`, as OpenAI's reference writes them."""

import json
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

SECRET = "ek_68af296e8e408191a1120ab6383263c2"
EXPIRES_AT = 1_756_310_470
OFFER = "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n"
ANSWER = "v=0\r\no=- 3 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n"


@dataclass
class FakeRealtime:
    """Answers with a secret or an SDP, or with the next of `answers`: bytes, or a status with a body."""

    answers: list[Any] = field(default_factory=list)
    requests: list[tuple[dict[str, Any], dict[str, str]]] = field(default_factory=list)

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/realtime/client_secrets", self._create, methods=["POST"]),
                Route("/v1/realtime/calls", self._call, methods=["POST"]),
            ]
        )

    async def _create(self, request: Request) -> Response:
        body = await request.json()
        self.requests.append((body, dict(request.headers)))
        return self._answer(build_answer(body["session"]))

    async def _call(self, request: Request) -> Response:
        """Take the parts `sdp` and `session` of a form."""
        async with request.form() as form:
            sdp, session = str(form["sdp"]), json.loads(str(form["session"]))
        self.requests.append(({"sdp": sdp, "session": session}, dict(request.headers)))
        return self._answer((await self.answer_offer(sdp)).encode())

    async def answer_offer(self, sdp: str) -> str:
        return ANSWER

    def _answer(self, usual: Any) -> Response:
        answer = self.answers.pop(0) if self.answers else usual
        if isinstance(answer, tuple):
            status, problem = answer
            return JSONResponse(problem, status)
        if isinstance(answer, bytes):
            return Response(answer, media_type="application/json")
        return JSONResponse(answer)


def build_answer(session: dict[str, Any]) -> dict[str, Any]:
    return {
        "value": SECRET,
        "expires_at": EXPIRES_AT,
        "session": {
            **session,
            "object": "realtime.session",
            "id": "sess_C9CiUVUzUzYIssh3ELY1d",
            "max_output_tokens": "inf",
            "truncation": "auto",
            "prompt": None,
            "expires_at": 0,
            "include": None,
        },
    }
