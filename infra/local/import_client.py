"""Import client: files to `POST /v1/imports`, large ones through uploads, several requests at once."""

import base64
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx

from infra.local.import_report import ImportReport
from shared.domain.errors import Unavailable
from shared.resilience.retry import retry

MAX_CONCURRENT = 3
MAX_ATTEMPTS = 6
MAX_BATCH_FILES = 100
MAX_BATCH_BYTES = 8_000_000
MAX_FORM_FILE_BYTES = 25_000_000
"""A larger file is uploaded in parts."""
PART_BYTES = 8_388_608
POLL_S = 0.3
SLOW_POLL_S = 5.0
"""Where a wearable's API asked to wait."""
TIMEOUT_S = 180.0
RETRY_STATUSES = frozenset({429, 502, 503, 504})
PART_HEADERS = {"Content-Type": "application/offset+octet-stream", "Tus-Resumable": "1.0.0"}


class ImportFailed(Exception):
    """The reason, in one line, why files were not imported."""


class ImportClient:
    """Sends files as one user, and writes down in `report` what became of them."""

    def __init__(
        self,
        http: httpx.AsyncClient,
        report: ImportReport,
        *,
        me: str | None = None,
        keeps_text: bool = False,
    ) -> None:
        self._http = http
        self._report = report
        self._me = me
        self._keeps_text = keeps_text

    async def send_all(self, paths: Sequence[Path]) -> None:
        waiting = _build_batches([path for path in paths if self._is_readable(path)])

        async def work() -> None:
            for batch in waiting:
                await self._send_batch(batch)
                self._report.finish_files(len(batch))

        async with anyio.create_task_group() as tasks:
            for _ in range(MAX_CONCURRENT):
                tasks.start_soon(work)

    async def import_wearable(self, wearable: str, key: str) -> None:
        """Have everything imported that a wearable recorded; a failure is reported."""
        body = {"wearable": wearable, "key": key, **({"me": self._me} if self._me else {})}
        try:
            started = (await self._request("POST", "/v1/imports", json=body)).json()
            self._report.add(await self._follow(f"/v1/imports/{started['id']}"))
        except ImportFailed as error:
            self._report.failures.append(f"{wearable}: {error}")

    def _is_readable(self, path: Path) -> bool:
        try:
            with path.open("rb"):
                return True
        except OSError as error:
            self._report.failures.append(f"{path}: {error.strerror or error}")
            self._report.finish_files(1)
            return False

    async def _send_batch(self, paths: Sequence[Path]) -> None:
        """Import files, and wait until they are kept; a failure is reported, and the others go on."""
        try:
            started = await self._start(paths)
            path = f"/v1/imports/{started['id']}"
            ended = await self._follow(path)
            questions = [file["number"] for file in ended["files"] if file["status"] == "question"]
            if self._keeps_text and questions:
                await self._request("POST", f"{path}/keep", json={"texts": questions})
                ended = await self._follow(path)
            self._report.add(ended)
        except ImportFailed as error:
            self._report.failures += [f"{path}: {error}" for path in paths]
        except OSError as error:
            self._report.failures += [f"{path}: {error.strerror or error}" for path in paths]

    async def _start(self, paths: Sequence[Path]) -> Any:
        modified = [_read_mtime(path) for path in paths]
        options: dict[str, Any] = {"modified": modified, **({"me": self._me} if self._me else {})}
        if paths[0].stat().st_size > MAX_FORM_FILE_BYTES:
            uploads = [await self._upload(path) for path in paths]
            answer = await self._request(
                "POST", "/v1/imports", json={**options, "uploads": uploads}
            )
            return answer.json()
        files = [("files", (path.name, path.read_bytes())) for path in paths]
        form = {"options": json.dumps(options)}
        return (await self._request("POST", "/v1/imports", files=files, data=form)).json()

    async def _upload(self, path: Path) -> str:
        """Upload a file in parts; return the id of the upload."""
        headers = _build_upload_headers(path)
        location = (await self._request("POST", "/v1/uploads", headers=headers)).headers["Location"]
        offset = 0
        with path.open("rb") as file:
            while part := file.read(PART_BYTES):
                await self._send_part(location, offset, part)
                offset += len(part)
        return str(location.rpartition("/")[2])

    async def _send_part(self, location: str, offset: int, part: bytes) -> None:
        """Send a part; one whose answer was lost has arrived, says the refusal of the repeat."""
        try:
            await self._request(
                "PATCH",
                location,
                content=part,
                headers={**PART_HEADERS, "Upload-Offset": str(offset)},
            )
        except ImportFailed:
            arrived = (await self._request("GET", location)).json()["offset"]
            if arrived != offset + len(part):
                raise

    async def _follow(self, path: str) -> Any:
        """Wait until an import is completed, or waits for a quota; return it."""
        while True:
            imported = (await self._request("GET", path)).json()
            is_reading = imported["status"] == "reading"
            if imported["resumes_at"] and not is_reading:
                self._report.waits_for = imported["waits_for"]
            if not is_reading and (imported["resumes_at"] or imported["status"] != "keeping"):
                return imported
            self._report.show_count(imported["conversation_count"], imported["waits_for"])
            await anyio.sleep(SLOW_POLL_S if imported["resumes_at"] else POLL_S)

    async def wait_for_processing(self) -> list[str]:
        """Wait until every conversation has ended; return those that failed."""
        while True:
            asked_at = anyio.current_time()
            statuses = await self._fetch_statuses()
            ours = {name: statuses.get(name, "completed") for name in self._report.ids}
            if "processing" not in ours.values():
                return sorted(name for name, status in ours.items() if status == "failed")
            # The list of a year costs the server a tenth of a second; most of its time is for the work.
            await anyio.sleep(max(0.5, 10 * (anyio.current_time() - asked_at)))

    async def _fetch_statuses(self) -> dict[str, str]:
        statuses: dict[str, str] = {}
        query = {
            "limit": "1000",
            "statuses": "processing,failed",
            "include_discarded": "true",
            "include_transcript": "false",
        }
        while True:
            page = await self._request("GET", "/v1/conversations", params=query)
            statuses |= {listed["id"]: listed["status"] for listed in page.json()}
            if "X-Next-Cursor" not in page.headers:
                return statuses
            query["cursor"] = page.headers["X-Next-Cursor"]

    async def _request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send a request that may be sent again. Raises ImportFailed with the reason."""
        send = partial(self._try_request, method, path, **options)
        try:
            response = await retry(send, sleep=anyio.sleep, attempts=MAX_ATTEMPTS)
        except Unavailable as error:
            raise ImportFailed(str(error)) from error
        if not response.is_success:
            raise ImportFailed(_describe(response))
        return response

    async def _try_request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Raises Unavailable where another attempt may succeed."""
        try:
            response = await self._http.request(method, path, timeout=TIMEOUT_S, **options)
        except httpx.TransportError as error:
            raise Unavailable("the product does not answer") from error
        if response.status_code in RETRY_STATUSES:
            raise Unavailable(_describe(response))
        return response


def _describe(response: httpx.Response) -> str:
    if response.headers.get("content-type") == "application/problem+json":
        return str(response.json()["detail"])
    return f"{response.status_code} {response.reason_phrase}"


def _build_upload_headers(path: Path) -> dict[str, str]:
    name = base64.b64encode(path.name.encode()).decode()
    return {
        "Tus-Resumable": "1.0.0",
        "Upload-Length": str(path.stat().st_size),
        "Upload-Metadata": f"filename {name}",
    }


def _build_batches(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Yield files that are sent together; a large one alone."""
    batch: list[Path] = []
    size = 0
    for path in paths:
        file_size = path.stat().st_size
        is_full = len(batch) == MAX_BATCH_FILES or size + file_size > MAX_BATCH_BYTES
        if batch and is_full:
            yield batch
            batch, size = [], 0
        batch.append(path)
        size += file_size
    if batch:
        yield batch


def _read_mtime(path: Path) -> str:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat()
