"""Files of the console, for the gateway of this machine and for the service that sends them in the cloud.

In the cloud: `python -m infra.local.console_files --port 8080 --config '{"sign_in": "firebase", …}'`.
"""

import argparse
import gzip
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from os import PathLike, stat_result
from pathlib import Path
from typing import Any

from anyio import to_thread
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ROOT = Path(__file__).parents[2]
_WEB = _ROOT / "web"
_REVALIDATED = (b"cache-control", b"no-cache")
_IMMUTABLE = "public, max-age=31536000, immutable"
_RELEASE = re.compile(r"at/([0-9a-f]{16})/")
_LOADED_BY_PAGE = re.compile(r'(?<=href="|.src=")/(?=style/|app\.js")')
_IMPORTED = re.compile(r'^(?:import|export)\b[^;"]*?from "(\.[^"]+)"', re.MULTILINE)


def build_console_app(config: Mapping[str, Any]) -> Starlette:
    """Serve the console, the description of the API, and how people sign in."""
    headers = {"cache-control": "no-store"}
    routes = [
        Route("/config.json", lambda _: JSONResponse(dict(config), headers=headers)),
        Route("/openapi.json", send_api_document),
    ]
    app = Starlette(routes=routes)
    app.router.redirect_slashes = False
    app.router.default = build_console()
    return app


def build_console() -> ASGIApp:
    """Serve the files of web/, each asked for anew, so that a new release is seen at once.

    The page loads its scripts and styles at `/at/<release>/`, where a browser keeps them for good: a second visit
    asks for the page alone.
    """
    files = _ConsoleFiles(directory=_WEB, html=True)

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        await files(scope, receive, add_headers(send, (_REVALIDATED,)))

    return serve


async def send_api_document(_: Request) -> Response:
    return FileResponse(_ROOT / "docs/openapi.json")


class _ConsoleFiles(StaticFiles):
    """Answers 404 where there is no file, whatever the method; 405 would say that GET finds one."""

    _release = ""

    def file_response(
        self,
        full_path: str | PathLike[str],
        stat_result: stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        found = super().file_response(full_path, stat_result, scope, status_code)
        accepts = Headers(scope=scope).get("accept-encoding", "")
        if "gzip" not in accepts or not isinstance(found, FileResponse):
            return found
        content = _compress_file(str(full_path), stat_result.st_mtime_ns)
        headers = {"content-encoding": "gzip", "vary": "Accept-Encoding"}
        headers |= {name: found.headers[name] for name in ("etag", "last-modified")}
        return Response(content, status_code, headers, found.media_type)

    async def get_response(self, path: str, scope: Scope) -> Response:
        is_page = path == "." and scope["method"] in {"GET", "HEAD"}
        if is_page or not self._release:
            self._release = await to_thread.run_sync(_name_release)
        if is_page:
            return self._send_page(self._release, Headers(scope=scope))
        named = _RELEASE.match(path)
        file = path[named.end() :] if named else path
        found = await super().get_response(file, {**scope, "method": "GET"})
        if scope["method"] not in {"GET", "HEAD"}:
            raise HTTPException(405)
        if named and named[1] == self._release:
            found.headers["cache-control"] = _IMMUTABLE
        return found

    def _send_page(self, release: str, asked: Headers) -> Response:
        """Send the console's page, whose scripts and styles have addresses of its release."""
        headers = Headers({"etag": f'"{release}"', "vary": "Accept-Encoding"})
        if self.is_not_modified(headers, asked):
            return NotModifiedResponse(headers)
        content = _build_page(release)
        if "gzip" not in asked.get("accept-encoding", ""):
            return HTMLResponse(gzip.decompress(content), headers=headers)
        return HTMLResponse(content, headers={**headers, "content-encoding": "gzip"})


def _name_release() -> str:
    """Name the files as they stand, by their times and sizes."""
    stats = ((str(path.relative_to(_WEB)), path.stat()) for path in sorted(_WEB.rglob("*")))
    stamps = [(name, stat.st_mtime_ns, stat.st_size) for name, stat in stats]
    return hashlib.sha256(repr(stamps).encode()).hexdigest()[:16]


@lru_cache(maxsize=1)
def _build_page(release: str) -> bytes:
    """Name the release, and all modules at once: a browser would find them one import after the other."""
    page = _LOADED_BY_PAGE.sub(f"/at/{release}/", (_WEB / "index.html").read_text())
    links = (f'<link rel="modulepreload" href="/at/{release}/{name}">' for name in _list_modules())
    return gzip.compress(page.replace("</head>", "".join(links) + "</head>", 1).encode())


def _list_modules() -> list[str]:
    """List the modules that app.js imports, and those that these import."""
    found = [_WEB / "app.js"]
    for module in found:  # which grows meanwhile
        named = (module.parent / name for name in _IMPORTED.findall(module.read_text()))
        found += sorted({path.resolve() for path in named} - {*found})
    return [path.relative_to(_WEB).as_posix() for path in found]


@cache
def _compress_file(path: str, modified_ns: int) -> bytes:
    """Compress a file once for each of its versions: a page of the console loads eighty."""
    return gzip.compress(Path(path).read_bytes(), mtime=modified_ns // 1_000_000_000)


def add_headers(send: Send, headers: Sequence[tuple[bytes, bytes]]) -> Send:
    """Add headers to an answer, except those that it has already."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            sent_names = [name.lower() for name, _ in message["headers"]]
            missing_headers = [header for header in headers if header[0] not in sent_names]
            message["headers"] = [*message["headers"], *missing_headers]
        await send(message)

    return send_with_headers


def main() -> None:
    import uvicorn

    parser = argparse.ArgumentParser(description="Serve the console's files.")
    parser.add_argument("--config", type=json.loads, required=True)
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    app = build_console_app(options.config)
    uvicorn.run(app, host="0.0.0.0", port=options.port, log_level="error", access_log=False)  # noqa: S104  in its container


if __name__ == "__main__":
    main()
