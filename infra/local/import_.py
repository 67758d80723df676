"""Import on the command line, `make import`: sends files to the running product."""

import argparse
import glob
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import anyio
import httpx

from functions.process_conversation.imports.files import GENERATED_ID_PREFIX, SUFFIXES, parse_file
from functions.process_conversation.imports.transcript_turn import UnreadableFile
from functions.process_conversation.library.conversation_schemas import ConversationIn
from infra.local.sign_in import describe_refusal, sign_in
from shared.domain.errors import Unavailable
from shared.resilience.retry import retry
from shared.settings import SettingsError

MAX_CONCURRENT = 8
MAX_ATTEMPTS = 6
BAR_CHARS = 30
MAX_FILE_BYTES = 268_435_456
RETRY_STATUSES = frozenset({429, 502, 503, 504})


class ImportFailed(Exception):
    """The reason, in one line, why a conversation was not imported."""


@dataclass(slots=True, kw_only=True)
class Progress:
    """Progress of an import; draws itself on a terminal."""

    total: int
    files: int = 0
    ids: set[str] = field(default_factory=set)
    failures: list[str] = field(default_factory=list)

    def finish_file(self) -> None:
        self.files += 1
        if sys.stderr.isatty():
            filled = BAR_CHARS * self.files // self.total
            bar = "█" * filled + "·" * (BAR_CHARS - filled)
            print(f"\r{bar} {self.files}/{self.total}", end="", file=sys.stderr, flush=True)

    def record_failure(self, path: Path, reason: object) -> None:
        self.failures.append(f"{path}: {reason}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 1 when something was not imported."""
    options = _build_parser().parse_args(arguments)
    paths = [path for name in options.files for path in _expand_path(name)]
    try:
        return anyio.run(_import, options, paths)
    except httpx.TransportError:
        print(f"keepsake: nothing answers at {options.origin}: start it with make run")
    except httpx.HTTPStatusError as error:
        print(f"keepsake: {describe_refusal(options.origin, error)}")
    except SettingsError as error:
        print(f"keepsake: {error}")
    except KeyboardInterrupt:
        print("\nkeepsake: stopped; run it again to go on, nothing is doubled")
    return 1


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make import", description=__doc__)
    parser.add_argument("files", nargs="+", help="files, folders and patterns")
    parser.add_argument("--origin", default="http://127.0.0.1:8080")
    parser.add_argument("--uid", default="alice", help="whose conversations these are")
    parser.add_argument("--wait", action="store_true", help="until all are processed")
    return parser


def _expand_path(name: str) -> Iterator[Path]:
    """List each file once; a name that matches nothing stays, to be reported."""
    path = Path(name)
    if path.is_dir():
        yield from sorted(p for p in path.rglob("*") if p.suffix.lower() in SUFFIXES)
    elif path.exists():
        yield path
    else:
        yield from map(Path, sorted(glob.glob(name, recursive=True)) or [name])  # noqa: PTH207 - patterns may be absolute


async def _import(options: argparse.Namespace, paths: Sequence[Path]) -> int:
    start_s, progress = time.perf_counter(), Progress(total=len(paths))
    async with sign_in(options.origin, options.uid) as client:
        await _send_all(client, paths, progress)
        _print_summary(progress)
        if options.wait:
            failed_ids = await _wait_for_processing(client, progress.ids)
            progress.failures += failed_ids
            _print_processing(failed_ids, len(progress.ids), time.perf_counter() - start_s)
    return 1 if progress.failures or not paths else 0


async def _send_all(client: httpx.AsyncClient, paths: Sequence[Path], progress: Progress) -> None:
    waiting = iter(paths)

    async def work() -> None:
        for path in waiting:
            await _send_file(client, path, progress)
            progress.finish_file()

    async with anyio.create_task_group() as tasks:
        for _ in range(MAX_CONCURRENT):
            tasks.start_soon(work)


async def _send_file(client: httpx.AsyncClient, path: Path, progress: Progress) -> None:
    """Send a file's conversations; report the first error and go on."""
    try:
        for conversation in await anyio.to_thread.run_sync(_read, path):
            await _send(client, conversation)
            progress.ids.add(str(conversation.id))
    except (UnreadableFile, ImportFailed) as error:
        progress.record_failure(path, error)
    except OSError as error:
        progress.record_failure(path, error.strerror or error)


def _read(path: Path) -> list[ConversationIn]:
    file_stat = path.stat()
    if file_stat.st_size > MAX_FILE_BYTES:
        raise UnreadableFile(f"too long: more than {MAX_FILE_BYTES} bytes")
    return parse_file(
        path.name, path.read_bytes(), modified=datetime.fromtimestamp(file_stat.st_mtime, UTC)
    )


async def _send(client: httpx.AsyncClient, conversation: ConversationIn) -> None:
    """Raises ImportFailed with the reason."""
    post = partial(_post, client, conversation.model_dump_json())
    try:
        response = await retry(post, sleep=anyio.sleep, attempts=MAX_ATTEMPTS)
    except Unavailable as error:
        raise ImportFailed("the product does not answer") from error
    _check_response(response, conversation)


async def _post(client: httpx.AsyncClient, body: str) -> httpx.Response:
    """Raises Unavailable where another attempt may succeed."""
    headers = {"Content-Type": "application/json"}
    try:
        response = await client.post("/v1/conversations", content=body, headers=headers)
    except httpx.TransportError as error:
        raise Unavailable("no connection") from error
    if response.status_code in RETRY_STATUSES:
        raise Unavailable(f"status {response.status_code}")
    return response


def _check_response(answer: httpx.Response, conversation: ConversationIn) -> None:
    """Raise ImportFailed, unless the same file is stored already with another age."""
    is_duplicate = answer.status_code == 409 and str(conversation.id).startswith(
        GENERATED_ID_PREFIX
    )
    if not (answer.is_success or is_duplicate):
        prefix = "too long: " if answer.status_code == 413 else ""
        raise ImportFailed(f"{prefix}{answer.json().get('detail', answer.reason_phrase)}")


def _print_summary(progress: Progress) -> None:
    if sys.stderr.isatty():
        print(file=sys.stderr)
    for line in progress.failures:
        print(f"keepsake: not imported: {line}", file=sys.stderr)
    print(
        f"keepsake: {len(progress.ids)} conversations of {progress.total} files are there, "
        f"{len(progress.failures)} files not imported",
        flush=True,
    )


def _print_processing(failed_ids: Sequence[str], count: int, duration_s: float) -> None:
    for name in failed_ids:
        print(f"keepsake: processing failed: {name}", file=sys.stderr)
    print(
        f"keepsake: {count - len(failed_ids)} completed, {len(failed_ids)} failed in "
        f"{duration_s:.1f} s, {count / duration_s:.0f} a second"
    )


async def _wait_for_processing(client: httpx.AsyncClient, ids: set[str]) -> list[str]:
    """Wait until every conversation has ended; return those that failed."""
    while True:
        statuses = await _fetch_statuses(client)
        counts = Counter(statuses.get(name, "completed") for name in ids)
        if not counts["processing"]:
            return sorted(name for name in ids if statuses.get(name) == "failed")
        await anyio.sleep(0.5)


async def _fetch_statuses(client: httpx.AsyncClient) -> dict[str, str]:
    statuses: dict[str, str] = {}
    query: dict[str, str] = {"limit": "100"}
    while True:
        page = (await client.get("/v1/conversations", params=query)).raise_for_status().json()
        statuses |= {
            conversation["id"]: conversation["status"] for conversation in page["conversations"]
        }
        if page["next_cursor"] is None:
            return statuses
        query["cursor"] = page["next_cursor"]


if __name__ == "__main__":
    sys.exit(main())
