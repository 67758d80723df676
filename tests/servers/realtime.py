"""Realtime on loopback: `/realtime/client_secrets`, as OpenAI's reference writes it."""

from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

SECRET = "ek_68af296e8e408191a1120ab6383263c2"
EXPIRES_AT = 1_756_310_470


@dataclass
class FakeRealtime:
    """Answers with a secret, or with the next of `answers`: bytes, or a status with a body."""

    answers: list[Any] = field(default_factory=list)
    requests: list[tuple[dict[str, Any], dict[str, str]]] = field(default_factory=list)

    @property
    def app(self) -> Starlette:
        route = Route("/v1/realtime/client_secrets", self._create, methods=["POST"])
        return Starlette(routes=[route])

    async def _create(self, request: Request) -> Response:
        body = await request.json()
        self.requests.append((body, dict(request.headers)))
        answer = self.answers.pop(0) if self.answers else build_answer(body["session"])
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
