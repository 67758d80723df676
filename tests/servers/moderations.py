"""Moderation on loopback: `/moderations`, as OpenAI's reference writes it."""

from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

MODEL = "omni-moderation-latest"
NOTHING = dict.fromkeys(
    [
        *("harassment", "harassment/threatening", "hate", "hate/threatening", "illicit"),
        *("illicit/violent", "self-harm", "self-harm/intent", "self-harm/instructions"),
        *("sexual", "sexual/minors", "violence", "violence/graphic"),
    ],
    0.0,
)


def build_answer(**scores: float | None) -> dict[str, Any]:
    """Build an answer as OpenAI's reference writes it."""
    named = {name.replace("__", "/").replace("_", "-"): score for name, score in scores.items()}
    return {
        "id": "modr-5MWoLO",
        "model": MODEL,
        "results": [
            {
                "flagged": False,
                "categories": dict.fromkeys(NOTHING, False),
                "category_scores": NOTHING | named,
                "category_applied_input_types": {name: ["text"] for name in NOTHING},
            }
        ],
    }


@dataclass
class FakeModerations:
    """Answers each request with the next of `answers`: a body, bytes, or a status; then with no harm."""

    answers: list[Any] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    @property
    def app(self) -> Starlette:
        return Starlette(routes=[Route("/v1/moderations", self._moderate, methods=["POST"])])

    async def _moderate(self, request: Request) -> Response:
        self.requests.append(await request.json())
        answer = self.answers.pop(0) if self.answers else build_answer()
        if isinstance(answer, int):
            return JSONResponse({"error": {"message": "no"}}, answer, {"retry-after-ms": "1"})
        if isinstance(answer, bytes):
            return Response(answer, media_type="application/json")
        return JSONResponse(answer)
