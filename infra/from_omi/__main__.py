"""Moving from Omi's own project, `make from-omi`: reads it, and writes zips for `make import`.

One folder a user; what is not taken is told, with the reason. Nothing is written in the project.
"""

import argparse
import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Self
from zipfile import ZIP_DEFLATED, ZipFile

from google.auth.exceptions import DefaultCredentialsError
from google.cloud.firestore import AsyncClient

from infra.erase_again import list_users
from infra.from_omi import records
from infra.from_omi.records import Fields, Left
from shared import wiring
from shared.adapters.cloud.firestore_documents import FirestoreDocuments
from shared.adapters.omi_documents import OmiDocuments
from shared.adapters.store_clock import StoreClock
from shared.adapters.system_clock import SystemClock
from shared.data.account.accounts import Accounts
from shared.data.store.omi_form import OmiForm
from shared.domain.errors import Unavailable
from shared.domain.ids import UserId
from shared.domain.store.documents import Document
from shared.settings import SettingsError

MAX_FILES, MAX_BYTES = 10_000, 150_000_000
"""Of a zip, before it is packed: an import takes twice the files and three times the bytes."""
BUILDERS: Mapping[str, Callable[[Document], Fields]] = {
    "memories": records.build_memory,
    "action_items": records.build_task,
    "daily_summaries": records.build_daily_summary,
    "chat_sessions": records.build_session,
}
NOT_TAKEN: Mapping[str, str] = {
    "fcm_tokens": "phones register here when they sign in",
    "files": "they lie with Omi's model provider: hand them in again",
    "integrations": "an account is connected by signing in here",
    "task_integrations": "where tasks are sent is chosen again",
    "hourly_usage": "it counts what was used there",
    "llm_usage": "it counts what was used there",
    "desktop_daily_usage": "it counts what was used there",
    "knowledge_nodes": "they are made anew from memories",
    "knowledge_edges": "they are made anew from memories",
    "screen_activity": "Keepsake keeps nothing of screens",
}
"""Collections of a user that stay, and why; others that nobody here knows are told as such."""
UNKNOWN = "no collection that Keepsake knows"
TAKEN = {*BUILDERS, "conversations", "folders", "goals", "messages", "people"}
ELSEWHERE: Mapping[str, str] = {
    "audio_files": "its sound lies in Omi's bucket: hand it in again",
    "files_id": "its files lie with Omi's model provider: hand them in again",
}
"""Fields that name what a document that is taken leaves behind."""


@dataclass(slots=True)
class Report:
    """What was taken by kind, and what was not, by reason."""

    taken: Counter[str] = field(default_factory=Counter)
    left: dict[str, list[str]] = field(default_factory=dict)

    def leave(self, path: str, reason: str) -> None:
        self.left.setdefault(reason, []).append(path)

    def describe(self) -> str:
        lines = [f"  {count} {kind}" for kind, count in sorted(self.taken.items())]
        for reason, paths in sorted(self.left.items()):
            shown = ", ".join(paths[:3]) + (", …" if len(paths) > 3 else "")
            lines.append(f"  not taken, {len(paths)}: {reason} ({shown})")
        return "\n".join(lines)


class Parts:
    """Zips of an export, each small enough to be imported; the first has what conversations of the others name."""

    def __init__(self, folder: Path, *, max_files: int = MAX_FILES) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for earlier in folder.glob("part-*.zip"):
            earlier.unlink()
        self._folder = folder
        self._max_files = max_files
        self._open_files = ExitStack()
        self._archives: list[ZipFile] = []
        self._files = self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open_files.close()

    def add(self, name: str, content: Any) -> None:
        data = json.dumps(content, ensure_ascii=False, default=_to_text).encode()
        is_full = self._files >= self._max_files or self._bytes + len(data) > MAX_BYTES
        if not self._archives or is_full:
            self._open()
        self._archives[-1].writestr(name, data)
        self._files, self._bytes = self._files + 1, self._bytes + len(data)

    def _open(self) -> None:
        """Begin a zip that only this account can read."""
        path = self._folder / f"part-{len(self._archives) + 1}.zip"
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        file = self._open_files.enter_context(os.fdopen(handle, "w+b"))
        archive = ZipFile(file, "w", ZIP_DEFLATED)
        self._archives.append(self._open_files.enter_context(archive))
        self._files = self._bytes = 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the zips and print the report of each user; on an error print one line and return 1."""
    parser = argparse.ArgumentParser(prog="make from-omi", description=__doc__)
    parser.add_argument("project", help="the project of Omi's own backend")
    parser.add_argument("--uid", type=UserId, help="one user; else all")
    parser.add_argument("--out", type=Path, default=Path("from-omi"), help="the folder to write to")
    options = parser.parse_args(arguments)
    try:
        form = OmiForm(secret=wiring.settings().omi_encryption_secret)
        asyncio.run(move(options.project, options.uid, options.out, form))
    except (SettingsError, Unavailable, DefaultCredentialsError) as error:
        print(f"keepsake: {error}; run it again, nothing is doubled", file=sys.stderr)
        return 1
    return 0


async def move(project: str, uid: UserId | None, out: Path, form: OmiForm) -> dict[UserId, Report]:
    """Write the zips of one user, or of all, each into a folder of their name. Raises Unavailable."""
    reports: dict[UserId, Report] = {}
    with closing(AsyncClient(project=project)) as client:
        documents = OmiDocuments(FirestoreDocuments(client, StoreClock(SystemClock())), form)
        async for name in _list_users(client, uid):
            collections = [each.id async for each in client.document(f"users/{name}").collections()]
            with Parts(out / name) as parts:
                reports[name] = await write_user(Accounts(documents), name, collections, parts)
            print(f"keepsake: {out / name}: import part-1.zip first\n{reports[name].describe()}")
    return reports


async def _list_users(client: AsyncClient, uid: UserId | None) -> AsyncIterator[UserId]:
    if uid:
        yield uid
        return
    async for name in list_users(client):
        yield name


async def write_user(
    accounts: Accounts, uid: UserId, collections: Sequence[str], parts: Parts
) -> Report:
    """Write all that a user has, the profile first; return what was taken and what was not."""
    report = Report()
    profile = await accounts.get_profile(uid)
    parts.add("profile.json", records.build_profile(profile.fields if profile else {}))
    folders = sorted(await _load(accounts, uid, "folders"), key=records.find_place)
    built = [_build(report, "folders", folder, records.build_folder) for folder in folders]
    parts.add("folders.json", [{"id": "folders", "folders": list(filter(None, built))}])
    await _add_list(accounts, uid, "people", records.build_person, parts, report)
    async for document in accounts.iter_documents(uid, "conversations"):
        stored = await _load(accounts, uid, f"conversations/{document.id}/photos")
        photos = [_build(report, "photos", photo, records.build_photo) for photo in stored]
        build_talk = partial(records.build_conversation, photos=list(filter(None, photos)))
        if talk := _build(report, "conversations", document, build_talk):
            parts.add(f"conversations/{document.id}.json", talk)
    for name, build in BUILDERS.items():
        await _add_list(accounts, uid, name, build, parts, report)
    goals = await _load(accounts, uid, "goals")
    history = {d.id: await _load(accounts, uid, f"goals/{d.id}/goal_history") for d in goals}
    build_goal = partial(records.build_goal, history=history)
    await _add_list(accounts, uid, "goals", build_goal, parts, report)
    sessions = await _load(accounts, uid, "chat_sessions")
    chats = {session.id for session in sessions if session.fields.get("title")}
    build_message = partial(records.build_message, chats=chats)
    await _add_list(accounts, uid, "messages", build_message, parts, report)
    for name in sorted({*collections} - TAKEN):
        async for document in accounts.iter_documents(uid, name):
            report.leave(document.path, NOT_TAKEN.get(name, UNKNOWN))
    return report


async def _load(accounts: Accounts, uid: UserId, collection: str) -> list[Document]:
    return [document async for document in accounts.iter_documents(uid, collection)]


async def _add_list(
    accounts: Accounts,
    uid: UserId,
    name: str,
    build: Callable[[Document], Fields],
    parts: Parts,
    report: Report,
) -> None:
    """Add the records of a collection as one file."""
    documents = accounts.iter_documents(uid, name)
    built = [_build(report, name, document, build) async for document in documents]
    parts.add(f"{name}.json", list(filter(None, built)))


def _build(
    report: Report, kind: str, document: Document, build: Callable[[Document], Fields]
) -> Fields | None:
    """Build a record; clients write some of these documents, so that any field may be anything."""
    try:
        record = build(document)
    except Left as reason:
        report.leave(document.path, str(reason))
        return None
    except (AttributeError, TypeError, ValueError):
        report.leave(document.path, "cannot be read")
        return None
    report.taken[kind] += 1
    for name in filter(document.fields.get, ELSEWHERE):
        report.leave(document.path, ELSEWHERE[name])
    return record


def _to_text(found: object) -> str:
    return found.isoformat() if isinstance(found, datetime) else repr(found)


if __name__ == "__main__":
    raise SystemExit(main())
