"""Start of an import: files are read, and kept at once or when their owner says so.

Also called: data import, bulk import.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from functions.imports.plan.sound import plan_sound
from functions.imports.plan.stored_plan import (
    delete_plan,
    read_report,
    write_plan,
)
from shared import telemetry
from shared.domain.errors import Conflict, Invalid, NotFound, TooLarge, TooMany
from shared.domain.files.file_import import IMPORT_TTL, FileImport, import_folder
from shared.domain.ids import UserId
from shared.library.deps import ImportDeps
from shared.library.uploads import get_complete

TARGET = "import_files"
MAX_OPEN = 20
RETRY_AFTER_S = 60


async def start_import(
    deps: ImportDeps, uid: UserId, sources: Sequence[Any], *, is_preview: bool
) -> FileImport:
    """Read files and have them kept; with `is_preview`, not before their owner has decided.

    `sources` are SourceFiles. Raises TooMany.
    """
    new = await build_import(deps, uid, is_preview=is_preview)
    read, _ = await read_sources(deps, uid, new, sources)
    return await add_import(deps, uid, read)


async def start_uploaded_import(
    deps: ImportDeps,
    uid: UserId,
    uploads: Sequence[str],
    modified: Sequence[datetime | None],
    *,
    is_preview: bool,
) -> FileImport:
    """Have files that were uploaded before read and kept, as start_import() does.

    Raises TooMany, and NotFound, Gone or Conflict for an upload that is not there as a whole.
    """
    for name in uploads:
        await get_complete(deps, uid, name)
    new = await build_import(deps, uid, is_preview=is_preview)
    return await add_import(
        deps, uid, replace(new, uploads=tuple(uploads), modified=tuple(modified))
    )


async def build_import(deps: ImportDeps, uid: UserId, *, is_preview: bool) -> FileImport:
    """Build an import, after the task that deletes it and its blobs in the end."""
    await _make_room(deps, uid)
    now = deps.clock.now()
    new = FileImport(
        id=deps.new_id(),
        created_at=now,
        expires_at=now + IMPORT_TTL,
        status="reading",
        is_preview=is_preview,
    )
    await schedule_end(deps, uid, new)
    return new


async def _make_room(deps: ImportDeps, uid: UserId) -> None:
    """Discard the oldest preview where many imports are open. Raises TooMany where none is a preview."""
    if await deps.stores.file_imports.count_open(uid) < MAX_OPEN:
        return
    previews = await deps.stores.file_imports.list_previews(uid)
    if not previews:
        raise TooMany(
            f"{MAX_OPEN} imports are being kept. Try again when one of them is done.",
            retry_after_s=RETRY_AFTER_S,
        )
    with suppress(NotFound):  # another request discarded it
        await discard(deps, uid, previews[0].id)


async def add_import(deps: ImportDeps, uid: UserId, new: FileImport) -> FileImport:
    """Store an import, and have its first step done."""
    stored = await deps.stores.file_imports.add(uid, new)
    await schedule_step(deps, uid, stored)
    return stored


async def store_read(
    deps: ImportDeps, uid: UserId, stored: FileImport, read: FileImport, **changes: Any
) -> FileImport:
    """Store how far read_sources() came, with further `changes`; return the import as it is then."""
    return await deps.stores.file_imports.move(
        uid,
        stored,
        status=read.status,
        read_count=read.read_count,
        postponed_count=0,
        file_count=read.file_count,
        batch_count=read.batch_count,
        conversation_count=read.conversation_count,
        **changes,
    )


async def read_sources(
    deps: ImportDeps,
    uid: UserId,
    stored: FileImport,
    sources: Sequence[Any],
    *,
    refusals: Sequence[Any] = (),
    has_more: bool = False,
) -> tuple[FileImport, list[dict[str, Any]]]:
    """Read files behind those that are read; `refusals` are plans that say why others are not.

    Reading is over with them, unless there are uploads behind them, or `has_more`. Raises LongTurnTaken for an upload. Returns the import as it is then, not yet stored, and what became of each file.
    """
    from functions.imports.plan.plan import plan_refusal, shorten_lists
    from functions.imports.plan.plan_files import plan_files

    profile = await deps.stores.profiles.get(uid)
    postponed_count = stored.postponed_count if stored.uploads else None
    read_plans = await plan_files(
        deps, uid, sources, zone=profile.zone.key, postponed_count=postponed_count
    )
    plans = [
        await plan_sound(deps, uid, source, plan, profile.zone)
        for source, plan in zip(sources, read_plans, strict=True)
    ]
    plans += refusals
    shorten_lists([entry for plan in plans for entry in plan.entries])
    await _mark_known(deps, uid, [entry for plan in plans for entry in plan.entries])
    try:
        batch_count = await write_plan(deps.blobs, uid, stored, plans)
    except TooLarge as error:  # it would be so at each attempt
        plans = [plan_refusal(source.name, str(error)) for source in sources]
        batch_count = await write_plan(deps.blobs, uid, stored, plans)
    entries = [entry for plan in plans for entry in plan.entries]
    read = replace(
        stored,
        read_count=stored.read_count + 1,
        file_count=stored.file_count + len(entries),
        batch_count=batch_count,
        conversation_count=stored.conversation_count + _count_kept(entries),
    )
    is_done = not has_more and read.read_count >= len(read.uploads)
    return (_finish_reading(read) if is_done else read), entries


def _finish_reading(read: FileImport) -> FileImport:
    if read.is_preview:
        return replace(read, status="preview")
    return replace(read, status="keeping" if read.batch_count else "completed")


def _count_kept(entries: Sequence[dict[str, Any]]) -> int:
    return sum(entry["conversation_count"] for entry in entries if entry["status"] == "kept")


async def _mark_known(deps: ImportDeps, uid: UserId, entries: Sequence[dict[str, Any]]) -> None:
    """Say of each listed conversation whether the library has it already, or is hearing it."""
    listed = [conversation for entry in entries for conversation in entry["conversations"]]
    known = {*await deps.stores.conversations.list_known(uid, [c["id"] for c in listed])}
    for entry in entries:
        ids = [c["id"] for c in entry["conversations"]] if entry["is_audio"] else []
        known |= {each for each in ids if await deps.stores.recordings.find(uid, each)}
    for conversation in listed:
        conversation["is_known"] = conversation["id"] in known


async def keep(
    deps: ImportDeps, uid: UserId, import_id: str, text_files: Collection[int]
) -> FileImport:
    """Have the files of an import kept, and these, which nobody knows, as plain text.

    A repeat changes nothing. Raises NotFound, Conflict while it is being read, and Invalid for files that
    are no question.
    """
    stored = await deps.stores.file_imports.get(uid, import_id)
    if stored.status == "reading":
        raise Conflict("The files are still being read.")
    report = await read_report(deps.blobs, uid, stored)
    _check_questions(report, text_files)
    added = sorted({*text_files} - {*stored.text_files})
    if stored.status == "preview" or added:
        stored = await deps.stores.file_imports.move(
            uid,
            stored,
            status="keeping",
            round=stored.round + 1,
            position=0,
            kept_count=0,
            refused=(),
            text_files=tuple(sorted({*stored.text_files, *added})),
            conversation_count=stored.conversation_count
            + sum(report[number]["conversation_count"] for number in added),
        )
    await schedule_step(deps, uid, stored)
    return stored


def _check_questions(report: Sequence[dict[str, Any]], text_files: Collection[int]) -> None:
    for number in text_files:
        if number >= len(report) or report[number]["status"] != "question":
            raise Invalid(f"Nothing was asked about file {number}.")


def _has_questions(stored: FileImport, report: Sequence[dict[str, Any]]) -> bool:
    """Tell whether a file is left of which its owner may still say that it is kept as text."""
    questions = {number for number, entry in enumerate(report) if entry["status"] == "question"}
    return bool(questions - {*stored.text_files})


async def discard(deps: ImportDeps, uid: UserId, import_id: str) -> None:
    """Delete an import; what it has put into the library stays. Raises NotFound."""
    stored = await deps.stores.file_imports.get(uid, import_id)
    await deps.stores.file_imports.remove(uid, stored.id)
    await deps.blobs.delete_tree(import_folder(uid, stored.id))


async def end_import(deps: ImportDeps, uid: UserId, import_id: str) -> None:
    """Delete an import whose time is over; one that still waits for a quota ends later.

    What is not read by then never will be: its uploads are gone.
    """
    try:
        stored = await deps.stores.file_imports.get(uid, import_id)
    except NotFound:
        await deps.blobs.delete_tree(import_folder(uid, import_id))
        return
    if stored.status == "keeping":
        now = deps.clock.now()
        await schedule_end(deps, uid, replace(stored, expires_at=now + IMPORT_TTL))
        return
    await discard(deps, uid, import_id)


async def complete(deps: ImportDeps, uid: UserId, stored: FileImport) -> FileImport:
    """Say that everything is kept, once what nobody will ask for any more is deleted."""
    if not _has_questions(stored, await read_report(deps.blobs, uid, stored)):
        await delete_plan(deps.blobs, uid, stored)
    return await deps.stores.file_imports.move(uid, stored, status="completed")


async def schedule_step(deps: ImportDeps, uid: UserId, stored: FileImport) -> None:
    """Have the next step done; once, however often this is called at one step."""
    if not stored.is_working:
        return
    place = f"{stored.round}-{stored.read_count}-{stored.position}"
    wait = f"-{stored.resumes_at:%d%H%M%S}" if stored.resumes_at else ""
    name = f"import-{telemetry.hash_id(uid)}-{stored.id}-{place}{wait}"
    body = {"uid": uid, "id": stored.id}
    await deps.tasks.create(TARGET, name, body, at=stored.resumes_at)


async def schedule_end(deps: ImportDeps, uid: UserId, stored: FileImport) -> None:
    name = f"end-import-{telemetry.hash_id(uid)}-{stored.id}-{stored.expires_at:%d}"
    body = {"uid": uid, "id": stored.id, "is_end": True}
    await deps.tasks.create(TARGET, name, body, at=stored.expires_at)


def count_speakers(report: Sequence[dict[str, Any]]) -> Counter[str]:
    """Count the segments of each named speaker over all files."""
    counts: Counter[str] = Counter()
    for entry in report:
        counts.update(entry.get("speakers", {}))
    return counts
