"""Events of an import: its progress whenever it changes, until it is completed or asks its owner."""

from collections.abc import AsyncGenerator

from functions.imports.import_schemas import ImportProgressOut
from shared.domain.errors import NotFound
from shared.domain.ids import UserId
from shared.library.deps import ImportDeps

POLL_S = 0.5
MAX_POLLS = 90
"""Some proxies hand on nothing of a stream before its end, and wait for a minute."""
HEARTBEAT = b": \n\n"


async def stream_progress(
    deps: ImportDeps, uid: UserId, import_id: str
) -> AsyncGenerator[bytes, None]:
    """Yield a frame for each change; the last one has a status that does not change by itself.

    A stream that lasts for long ends before; who still waits asks again.
    """
    sent: ImportProgressOut | None = None
    for _ in range(MAX_POLLS):
        try:
            stored = await deps.stores.file_imports.get(uid, import_id)
        except NotFound:  # it was discarded meanwhile
            return
        progress = ImportProgressOut.model_validate(stored)
        if progress != sent:
            yield b"data: " + progress.model_dump_json().encode() + b"\n\n"
            sent = progress
        if not stored.is_working:
            return
        await deps.clock.sleep(POLL_S)
