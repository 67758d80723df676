"""Reading of a file: parsed in a process of its own, stored, indexed, and then ready or rejected.

Also called: document parsing, text extraction.
"""

from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
from anyio import TemporaryDirectory

from functions.media.deps import FileDeps
from functions.media.files.file_content import FileContent, Unreadable
from functions.media.files.read_content import read_content
from shared.domain.errors import QuotaExceeded
from shared.domain.files.file import MAX_ATTEMPTS, MAX_FILE_TOKENS, File, count_picture_tokens
from shared.domain.ids import UserId
from shared.domain.models.tokens import estimate_tokens
from shared.library.files import (
    PICTURE_TYPE,
    drop_content,
    picture_path,
    schedule_reading,
    store_pages,
    thumbnail_path,
)
from shared.library.isolated_reading import (
    TURN_AGAIN,
    TURN_WAIT_S,
    check_long_turn,
    read_isolated,
)
from shared.library.uploads import iterate_content
from shared.resilience.isolation import LimitReached, Limits, LongTurnTaken, has_turn
from shared.retrieval.page_passages import split_into_passages

LIMITS = Limits(timeout_s=60.0, cpu_s=10.0, memory_bytes=1_610_612_736)
BROKE_READERS = "reading it failed again and again"


async def read_in_turn(deps: FileDeps, uid: UserId, file_id: str, limits: Limits = LIMITS) -> None:
    """Read a file, or have its task come again: behind another of its owner, or a slow one behind a slow one."""
    if await has_turn(uid, within_s=TURN_WAIT_S):
        with suppress(LongTurnTaken):
            await read_file(deps, uid, file_id, limits, leaves=True)
            return
    again_at = deps.clock.now() + TURN_AGAIN
    await schedule_reading(deps.tasks, uid, file_id, deps.new_id(), at=again_at)


async def read_file(
    deps: FileDeps,
    uid: UserId,
    file_id: str,
    limits: Limits = LIMITS,
    *,
    leaves: bool = False,
) -> None:
    """Read a file that was handed in; a repeat does nothing. Raises Unavailable, and LongTurnTaken where it `leaves`: call again.

    Attempts write the same, so two at once do no harm. Attempts that took their process with them
    are counted, and after MAX_ATTEMPTS the file is rejected.
    """
    file = await deps.stores.files.begin_reading(uid, file_id)
    if file is None:
        return
    try:
        read = await _read(deps, uid, file, limits, leaves=leaves)
    except LongTurnTaken:
        await deps.stores.files.postpone_reading(uid, file.id)
        raise
    except (Unreadable, LimitReached) as error:
        reason = f"“{file.name}” cannot be used: {str(error).rstrip('.')}."
        read = replace(file, status="rejected", reason=reason)
    except QuotaExceeded as error:
        reason = f"“{file.name}” was not read: {error} Hand it in again then."
        read = replace(file, status="rejected", reason=reason)
    if not await deps.stores.files.finish_reading(uid, read):
        await _drop_if_gone(deps, uid, read)


async def _read(deps: FileDeps, uid: UserId, file: File, limits: Limits, *, leaves: bool) -> File:
    """Raises Unreadable, LimitReached, LongTurnTaken and QuotaExceeded."""
    if file.attempt_count > MAX_ATTEMPTS:
        raise Unreadable(BROKE_READERS)
    if leaves:
        check_long_turn(file.postponed_count)
    content = await _parse(deps, uid, file, limits, leaves=leaves)
    return await _store(deps, uid, _describe(file, content), content)


async def _parse(
    deps: FileDeps, uid: UserId, file: File, limits: Limits, *, leaves: bool
) -> FileContent:
    """Copy the content to a folder that goes with this call, and read it there."""
    async with TemporaryDirectory() as folder:
        path = Path(folder) / "content"
        async with await anyio.open_file(path, "wb") as copy:
            async for part in iterate_content(deps.blobs, file.parts):
                await copy.write(part)
        read = partial(read_content, path, file.name)
        postponed_count = file.postponed_count if leaves else None
        return await read_isolated(deps, uid, read, limits, postponed_count=postponed_count)


def _describe(file: File, content: FileContent) -> File:
    """Return what the file turned out to be. Raises Unreadable for too many tokens."""
    tokens = sum(estimate_tokens(page.text) for page in content.pages)
    if tokens > MAX_FILE_TOKENS:
        raise Unreadable(
            f"it has about {tokens:,} tokens, and at most {MAX_FILE_TOKENS:,} are read. Send a part of it"
        )
    if content.picture:
        tokens = count_picture_tokens(content.width, content.height)
    return replace(
        file,
        status="ready",
        media_type=content.media_type,
        token_count=tokens,
        char_count=sum(len(page.text) for page in content.pages),
        page_count=len(content.pages),
        width=content.width,
        height=content.height,
        has_thumbnail=bool(content.thumbnail),
    )


async def _store(deps: FileDeps, uid: UserId, read: File, content: FileContent) -> File:
    """Store what was read. How many rows there will be is stored first, so that all can be removed."""
    passages = split_into_passages(content.pages)
    await deps.stores.files.note_chunks(uid, read.id, len(passages))
    for path, picture in (
        (picture_path(uid, read.id), content.picture),
        (thumbnail_path(uid, read.id), content.thumbnail),
    ):
        if picture:
            await deps.blobs.write(path, picture, media_type=PICTURE_TYPE)
    if content.pages:
        await store_pages(deps.blobs, uid, read.id, content.pages)
    await deps.file_index.put(uid, read, passages)
    return replace(read, chunk_count=len(passages))


async def _drop_if_gone(deps: FileDeps, uid: UserId, read: File) -> None:
    """Delete what was stored of a file that its owner deleted meanwhile."""
    (stored,) = await deps.stores.files.find_all(uid, [read.id])
    if stored is None:
        await drop_content(deps, uid, read)
