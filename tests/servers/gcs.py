"""Cloud Storage on loopback: the part of its JSON API that keeps, reads, lists and deletes objects."""

from dataclasses import dataclass, field
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

BUCKET = "demo-blobs"
PAGE_SIZE = 3
NOT_FOUND = Response(status_code=404)


@dataclass
class FakeGcs:
    """The objects of one bucket, with their types. `failure` is answered to everything."""

    objects: dict[str, tuple[bytes, str]] = field(default_factory=dict)
    failure: int | None = None

    @property
    def app(self) -> Starlette:
        prefix = f"/storage/v1/b/{BUCKET}/o"
        return Starlette(
            routes=[
                Route(f"/upload{prefix}", self._upload, methods=["POST"]),
                Route(prefix, self._list, methods=["GET"]),
                Route(f"{prefix}/{{name:path}}", self._serve_one, methods=["GET", "DELETE"]),
            ]
        )

    async def _upload(self, request: Request) -> Response:
        content = await request.body()
        if self.failure:
            return Response(status_code=self.failure)
        if request.query_params["uploadType"] != "media":
            return Response(status_code=400)
        name = request.query_params["name"]
        self.objects[name] = (content, request.headers["content-type"])
        return JSONResponse({"kind": "storage#object", "name": name})

    async def _list(self, request: Request) -> Response:
        """List a page of the names, of a few each, so that clients have to ask for the next."""
        if self.failure:
            return Response(status_code=self.failure)
        after = request.query_params.get("pageToken", "")
        prefix = request.query_params.get("prefix", "")
        names = sorted(name for name in self.objects if name.startswith(prefix) and name > after)
        page = {"items": [{"name": name} for name in names[:PAGE_SIZE]]} if names else {}
        more = {"nextPageToken": names[PAGE_SIZE - 1]} if len(names) > PAGE_SIZE else {}
        return JSONResponse({**page, **more})

    async def _serve_one(self, request: Request) -> Response:
        # The name is one part of the path: its slashes have to be escaped.
        raw_name = request.scope["raw_path"].decode().removeprefix(f"/storage/v1/b/{BUCKET}/o/")
        name = unquote(raw_name)
        if self.failure:
            return Response(status_code=self.failure)
        if "/" in raw_name or name not in self.objects:
            return NOT_FOUND
        if request.method == "DELETE":
            del self.objects[name]
            return Response(status_code=204)
        content, media_type = self.objects[name]
        return Response(content, media_type=media_type)
