"""APIs of wearables on loopback: Limitless, Omi and Bee, by their documentation."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

KEY = "sk-owner-0123456789"


def build_lifelog(number: int) -> dict[str, Any]:
    """Return an entry of Limitless, an hour after the one before."""
    day, hour = divmod(number, 24)
    at = f"2026-02-{day + 1:02}T{hour:02}"
    return {
        "id": f"log{number}",
        "title": f"Talk {number}",
        "markdown": None,
        "startTime": f"{at}:00:00+00:00",
        "endTime": f"{at}:01:00+00:00",
        "contents": [
            {"type": "heading1", "content": f"Talk {number}", "children": []},
            {"type": "blockquote", "content": f"The pump {number} leaks.", "speakerName": "Kai",
             "speakerIdentifier": None, "startOffsetMs": 1000, "endOffsetMs": 3000, "children": []},
            {"type": "blockquote", "content": "I order one.", "speakerName": "Ann Lee",
             "speakerIdentifier": "user", "startOffsetMs": 4000, "endOffsetMs": 5000, "children": []},
        ],
    }  # fmt: skip


def build_omi(number: int) -> dict[str, Any]:
    """Return a conversation of Omi's developer API."""
    return {
        "id": f"omi{number}",
        "created_at": f"2026-02-01T{number % 24:02}:00:00Z",
        "started_at": f"2026-02-01T{number % 24:02}:00:00Z",
        "finished_at": f"2026-02-01T{number % 24:02}:01:00Z",
        "language": "en",
        "source": "omi",
        "structured": {"title": f"Talk {number}", "overview": "A pump.", "emoji": "🔧",
                       "category": "home", "action_items": [], "events": []},
        "transcript_segments": [
            {"id": "s1", "text": f"The pump {number} leaks.", "speaker_id": 0, "speaker_name": "Kai",
             "start": 1.0, "end": 3.0},
        ],
    }  # fmt: skip


def build_bee(number: int) -> dict[str, Any]:
    """Return a conversation of Bee as a whole, heard live and transcribed once more."""
    heard = {"id": 1, "start": 1.0, "end": 3.0, "text": "The pomp", "speaker": "0"}
    told = {"id": 2, "start": 1.0, "end": 3.0, "text": f"The pump {number} leaks.", "speaker": "0"}
    return {
        "id": number,
        "start_time": f"2026-02-01T{number % 24:02}:00:00.000Z",
        "end_time": f"2026-02-01T{number % 24:02}:01:00.000Z",
        "device_type": "Bee",
        "summary": "## Summary",
        "short_summary": f"Talk {number}",
        "state": "COMPLETED",
        "transcriptions": [
            {"id": 1, "realtime": True, "utterances": [heard]},
            {"id": 2, "realtime": False, "utterances": [told]},
        ],
    }


@dataclass
class WearableServer:
    """The three APIs; `refusals` are the answers that come before the next true ones.

    With `ends_at`, the key ends after so many requests; with `limits_at`, this request is one too many.
    """

    lifelogs: Sequence[dict[str, Any]] = ()
    omi: Sequence[dict[str, Any]] = ()
    bee: Sequence[dict[str, Any]] = ()
    refusals: list[Response] = field(default_factory=list)
    ends_at: int | None = None
    limits_at: int | None = None
    paths: list[str] = field(default_factory=list)

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/lifelogs", self._list_lifelogs),
                Route("/v1/dev/user/conversations", self._list_omi),
                Route("/v1/me/conversations", self._list_bee),
                Route("/v1/me/conversations/{id}", self._show_bee),
            ]
        )

    def _refuse(self, request: Request, key: str) -> Response | None:
        self.paths.append(f"{request.url.path}?{request.url.query}")
        is_ended = self.ends_at is not None and len(self.paths) > self.ends_at
        if key != KEY or is_ended:
            return JSONResponse({"error": "unauthorized"}, status_code=401)
        if len(self.paths) == self.limits_at:
            return Response(status_code=429, headers={"Retry-After": "120"})
        return self.refusals.pop(0) if self.refusals else None

    async def _list_lifelogs(self, request: Request) -> Response:
        if refusal := self._refuse(request, request.headers.get("x-api-key", "")):
            return refusal
        limit, at = int(request.query_params["limit"]), int(request.query_params.get("cursor", 0))
        if limit > 10:
            return JSONResponse({"error": "limit must be at most 10"}, status_code=400)
        page, end = self.lifelogs[at : at + limit], at + limit
        following = str(end) if end < len(self.lifelogs) else None
        meta = {"lifelogs": {"nextCursor": following, "count": len(page)}}
        return JSONResponse({"data": {"lifelogs": page}, "meta": meta})

    async def _list_omi(self, request: Request) -> Response:
        if refusal := self._refuse(
            request, request.headers["authorization"].removeprefix("Bearer ")
        ):
            return refusal
        query = request.query_params
        at, limit = int(query["offset"]), min(int(query["limit"]), 25)
        is_whole = query["include_transcript"] == "true"
        names = {"transcript_segments"} if not is_whole else set()
        page = self.omi[at : at + limit]
        return JSONResponse([{k: v for k, v in item.items() if k not in names} for item in page])

    async def _list_bee(self, request: Request) -> Response:
        if refusal := self._refuse(request, request.headers.get("x-api-key", "")):
            return refusal
        limit, page = int(request.query_params["limit"]), int(request.query_params["page"])
        found = self.bee[(page - 1) * limit : page * limit]
        heads = [{k: v for k, v in item.items() if k != "transcriptions"} for item in found]
        pages = -(-len(self.bee) // limit)
        counts = {"currentPage": page, "totalPages": pages, "totalCount": len(self.bee)}
        return JSONResponse({"conversations": heads, **counts})

    async def _show_bee(self, request: Request) -> Response:
        if refusal := self._refuse(request, request.headers.get("x-api-key", "")):
            return refusal
        found = [item for item in self.bee if str(item["id"]) == request.path_params["id"]]
        if found[0]["state"] == "DELETED":
            return JSONResponse({"error": "not found"}, status_code=404)
        return JSONResponse({"conversation": found[0]})
