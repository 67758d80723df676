"""`make import`: hand files to the running product; sending one again adds nothing."""

import argparse
import glob
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import anyio
import httpx

from functions.process_conversation.wire import ConversationIn
from infra.local.importers.files import MADE, SUFFIXES, read
from infra.local.importers.said import Unreadable

AT_ONCE = 8
TRIES = 6
TIMEOUT_S = 30
BAR = 30
MAX_FILE_BYTES = 268_435_456
BUSY = frozenset({429, 502, 503, 504})


class NotSent(Exception):
    """Says in one line why a conversation was not taken."""


@dataclass(slots=True, kw_only=True)
class Progress:
    """What became of the files so far; draws itself where somebody watches."""

    total: int
    files: int = 0
    ids: set[str] = field(default_factory=set)
    broken: list[str] = field(default_factory=list)

    def done(self) -> None:
        self.files += 1
        if sys.stderr.isatty():
            filled = BAR * self.files // self.total
            bar = "█" * filled + "·" * (BAR - filled)
            print(f"\r{bar} {self.files}/{self.total}", end="", file=sys.stderr, flush=True)

    def refuse(self, path: Path, reason: object) -> None:
        self.broken.append(f"{path}: {reason}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 1 when something was not imported."""
    asked = _parser().parse_args(arguments)
    paths = [path for name in asked.files for path in _files(name)]
    try:
        return anyio.run(_import, asked, paths)
    except httpx.TransportError:
        print(f"keepsake: nothing answers at {asked.origin}: start it with make run")
    except httpx.HTTPStatusError as error:
        print(f"keepsake: {asked.origin} refused: {error.response.text}")
    except KeyboardInterrupt:
        print("\nkeepsake: stopped; run it again to go on, nothing is doubled")
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make import", description=__doc__)
    parser.add_argument("files", nargs="+", help="files, folders and patterns")
    parser.add_argument("--origin", default="http://127.0.0.1:8080")
    parser.add_argument("--uid", default="alice", help="whose conversations these are")
    parser.add_argument("--wait", action="store_true", help="until all are processed")
    return parser


def _files(name: str) -> Iterator[Path]:
    """Name each file once; a name that matches nothing stays, to be reported."""
    path = Path(name)
    if path.is_dir():
        yield from sorted(p for p in path.rglob("*") if p.suffix.lower() in SUFFIXES)
    elif path.exists():
        yield path
    else:
        yield from map(Path, sorted(glob.glob(name, recursive=True)) or [name])  # noqa: PTH207 - patterns may be absolute


async def _import(asked: argparse.Namespace, paths: Sequence[Path]) -> int:
    began, progress = time.perf_counter(), Progress(total=len(paths))
    async with signed_in(asked.origin, asked.uid) as client:
        await _send_all(client, paths, progress)
        _tell(progress)
        if asked.wait:
            failed = await _processed(client, progress.ids)
            progress.broken += [f"{name}: processing failed" for name in failed]
            spent = time.perf_counter() - began
            print(f"keepsake: completed in {spent:.1f} s, {len(progress.ids) / spent:.0f} a second")
    return 1 if progress.broken or not paths else 0


@asynccontextmanager
async def signed_in(origin: str, uid: str) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=origin, timeout=TIMEOUT_S) as client:
        answer = await client.post("/local/token", json={"uid": uid})
        answer.raise_for_status()
        client.headers["Authorization"] = f"Bearer {answer.json()['token']}"
        yield client


async def _send_all(client: httpx.AsyncClient, paths: Sequence[Path], progress: Progress) -> None:
    waiting = iter(paths)

    async def work() -> None:
        for path in waiting:
            await _send_file(client, path, progress)
            progress.done()

    async with anyio.create_task_group() as tasks:
        for _ in range(AT_ONCE):
            tasks.start_soon(work)


async def _send_file(client: httpx.AsyncClient, path: Path, progress: Progress) -> None:
    """Send what a file holds; the first reason against it is told, the rest of the files go on."""
    try:
        for conversation in await anyio.to_thread.run_sync(_read, path):
            await _send(client, conversation)
            progress.ids.add(str(conversation.id))
    except (Unreadable, NotSent) as error:
        progress.refuse(path, error)
    except OSError as error:
        progress.refuse(path, error.strerror or error)


def _read(path: Path) -> list[ConversationIn]:
    about = path.stat()
    if about.st_size > MAX_FILE_BYTES:
        raise Unreadable(f"too long: more than {MAX_FILE_BYTES} bytes")
    return read(path.name, path.read_bytes(), modified=datetime.fromtimestamp(about.st_mtime, UTC))


async def _send(client: httpx.AsyncClient, conversation: ConversationIn) -> None:
    """Raises NotSent with the reason."""
    body = conversation.model_dump_json()
    for attempt in range(TRIES):
        if attempt:
            await anyio.sleep(0.1 * 2**attempt)
        answer = await _posted(client, body)
        if answer is not None and answer.status_code not in BUSY:
            return _check(answer, conversation)
    raise NotSent("the product does not answer")


async def _posted(client: httpx.AsyncClient, body: str) -> httpx.Response | None:
    headers = {"Content-Type": "application/json"}
    try:
        return await client.post("/v1/conversations", content=body, headers=headers)
    except httpx.TransportError:
        return None


def _check(answer: httpx.Response, conversation: ConversationIn) -> None:
    """An id made from the content that stands already is this file with another age."""
    known = answer.status_code == 409 and str(conversation.id).startswith(MADE)
    if not (answer.is_success or known):
        long = "too long: " if answer.status_code == 413 else ""
        raise NotSent(f"{long}{answer.json().get('detail', answer.reason_phrase)}")


def _tell(progress: Progress) -> None:
    if sys.stderr.isatty():
        print(file=sys.stderr)
    for line in progress.broken:
        print(f"keepsake: not imported: {line}", file=sys.stderr)
    print(
        f"keepsake: {len(progress.ids)} conversations of {progress.total} files are there, "
        f"{len(progress.broken)} files not imported",
        flush=True,
    )


async def _processed(client: httpx.AsyncClient, wanted: set[str]) -> list[str]:
    """Wait until every conversation has ended; return those that failed."""
    while True:
        found = await _statuses(client)
        counts = Counter(found.get(name, "completed") for name in wanted)
        if not counts["processing"]:
            return sorted(name for name in wanted if found.get(name) == "failed")
        await anyio.sleep(0.5)


async def _statuses(client: httpx.AsyncClient) -> dict[str, str]:
    found: dict[str, str] = {}
    query: dict[str, str] = {"limit": "100"}
    while True:
        page = (await client.get("/v1/conversations", params=query)).raise_for_status().json()
        found |= {each["id"]: each["status"] for each in page["conversations"]}
        if page["next_cursor"] is None:
            return found
        query["cursor"] = page["next_cursor"]


if __name__ == "__main__":
    sys.exit(main())
