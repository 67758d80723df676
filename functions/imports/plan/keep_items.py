"""Keeping of imported items: batch by batch into the library, each once, however often it is tried.

Also called: batch import.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import anyio

from functions.imports.formats.restored_records import RESTORED_KINDS
from functions.imports.plan.keep_records import (
    keep_action_item,
    keep_memory,
    keep_person,
)
from functions.imports.plan.sound import keep_recording
from functions.imports.plan.start_import import (
    complete,
    read_sources,
    schedule_step,
    store_read,
)
from functions.imports.plan.stored_plan import Item, read_batch
from functions.imports.plan.wearable_steps import read_next_pages
from functions.imports.refusals import (
    CONVERSATION_KINDS,
    REFUSALS,
    describe_refusal,
    name_item,
)
from functions.imports.restore.keep_restored import keep_restored
from functions.imports.restore.keep_restored_records import keep_restored_record
from shared import telemetry
from shared.domain.conversations.conversation import Edits, Structured, apply_edits
from shared.domain.errors import Conflict, Gone, NotFound, QuotaExceeded
from shared.domain.files.file_import import FileImport, RefusedItem
from shared.domain.ids import UserId
from shared.library.conversation_schemas import ConversationIn
from shared.library.deps import ImportDeps
from shared.library.hand_in import hand_in
from shared.library.isolated_reading import TURN_AGAIN, TURN_WAIT_S, check_long_turn
from shared.library.uploads import delete_upload, get_complete, iterate_content
from shared.resilience.isolation import LongTurnTaken, has_turn

_READING_LARGE = anyio.CapacityLimiter(2)
"""Each holds an uploaded file of up to 200 MB in memory, a few times over."""
LARGE_BYTES = 4_194_304
MAX_BATCHES_PER_CALL = 8
"""A call ends well before its deadline; the next task goes on."""
MAX_REFUSED = 50
"""Items that are named; each is logged."""


async def continue_import(deps: ImportDeps, uid: UserId, import_id: str) -> None:
    """Do the next steps of an import, and have those behind them done.

    A call that is cut off, or comes twice, doubles nothing. Raises Unavailable: call again.
    """
    try:
        stored = await deps.stores.file_imports.get(uid, import_id)
        for _ in range(MAX_BATCHES_PER_CALL):
            if not stored.is_working or _is_early(deps, stored):
                break
            stored = await _take_step(deps, uid, stored)
        await schedule_step(deps, uid, stored)
    except NotFound:  # its owner discarded it, or was erased
        telemetry.add_fields(outcome="gone")


def _is_early(deps: ImportDeps, stored: FileImport) -> bool:
    return stored.resumes_at is not None and deps.clock.now() < stored.resumes_at


async def _take_step(deps: ImportDeps, uid: UserId, stored: FileImport) -> FileImport:
    if stored.status == "reading" and stored.wearable:
        return await read_next_pages(deps, uid, stored, stored.wearable)
    if stored.status == "reading":
        return await _read_in_turn(deps, uid, stored)
    if stored.position >= stored.batch_count:
        return await complete(deps, uid, stored)
    try:
        count, refused = await _keep_batch(deps, uid, stored)
    except QuotaExceeded as refusal:
        return await _wait(deps, uid, stored, refusal)
    return await deps.stores.file_imports.move(
        uid,
        stored,
        position=stored.position + 1,
        kept_count=stored.kept_count + count,
        refused=(*stored.refused, *refused)[:MAX_REFUSED],
        resumes_at=None,
        waits_for="",
    )


async def _wait(
    deps: ImportDeps, uid: UserId, stored: FileImport, refusal: QuotaExceeded
) -> FileImport:
    """Go on when the quota begins anew: nothing is lost."""
    resumes_at = refusal.resets_at or deps.clock.now() + timedelta(seconds=refusal.retry_after_s)
    return await deps.stores.file_imports.move(
        uid, stored, resumes_at=resumes_at, waits_for=str(refusal)
    )


async def _keep_batch(
    deps: ImportDeps, uid: UserId, stored: FileImport
) -> tuple[int, list[RefusedItem]]:
    """Keep the items of the next batch; return how many conversations of it are kept, and what is not.

    What an earlier attempt stored is left out: it would count towards the quotas again.
    """
    items = [
        item
        for item in await read_batch(deps.blobs, uid, stored, stored.position)
        if not item.is_question or item.file in stored.text_files
    ]
    ids = [item.fields["id"] for item in items if item.kind in CONVERSATION_KINDS]
    known = await deps.stores.conversations.list_known(uid, ids)
    new = [i for i in items if i.kind not in CONVERSATION_KINDS or i.fields["id"] not in known]
    answers = [await _keep_item(deps, uid, item) for item in new]
    refused = [answer for answer in answers if answer]
    return len(ids) - sum(r.kind in CONVERSATION_KINDS for r in refused), refused


async def _keep_item(deps: ImportDeps, uid: UserId, item: Item) -> RefusedItem | None:
    """Keep an item, or say why the library does not take it, so that it costs the others nothing."""
    try:
        await KEEPERS[item.kind](deps, uid, item.fields)
    except Conflict:  # it is in the library since the batch was looked up
        telemetry.add_fields(outcome="known")
    except REFUSALS as error:
        telemetry.warning("import_item_refused", kind=item.kind, error=type(error).__name__)
        return RefusedItem(
            file=item.file,
            kind=item.kind,
            id=str(item.fields.get("id", "")),
            title=name_item(item.kind, item.fields),
            reason=describe_refusal(error),
        )
    return None


async def keep_conversation(deps: ImportDeps, uid: UserId, fields: dict[str, Any]) -> None:
    """Hand in a conversation with what its file knows of it, in one write.

    Its owner chose to keep it, so it counts as a conversation, however short it is.
    Raises Conflict for one that is in the library: it stays, its owner may have changed it since.
    """
    edits = Edits(**fields["edits"], discarded=False)
    content = {name: found for name, found in fields.items() if name != "edits"}
    conversation = ConversationIn.model_validate(content).to_conversation(deps.new_id())
    structured = apply_edits(Structured(), edits)
    imported = replace(conversation, is_imported=True, edits=edits, structured=structured)
    await hand_in(deps, uid, imported)


async def _read_in_turn(deps: ImportDeps, uid: UserId, stored: FileImport) -> FileImport:
    """Read the next upload, or have its task come again: behind another of its owner, or a slow one behind a slow one."""
    if await has_turn(uid, within_s=TURN_WAIT_S):
        try:
            return await _read_upload(deps, uid, stored)
        except LongTurnTaken:
            stored = await deps.stores.file_imports.move(
                uid, stored, postponed_count=stored.postponed_count + 1
            )
    return replace(stored, resumes_at=deps.clock.now() + TURN_AGAIN)  # for its task alone


async def _read_upload(deps: ImportDeps, uid: UserId, stored: FileImport) -> FileImport:
    """Read the next uploaded file, which is deleted then; one that is gone is refused. Raises LongTurnTaken.

    Sound is stored again, under an id of its content.
    """
    from functions.imports.plan.plan import SourceFile

    check_long_turn(stored.postponed_count)
    upload_id = stored.uploads[stored.read_count]
    try:
        upload = await get_complete(deps, uid, upload_id)
    except (NotFound, Gone, Conflict):
        upload = None
    async with _READING_LARGE if upload and upload.length > LARGE_BYTES else nullcontext():
        source = SourceFile(name=upload_id, data=b"", modified=stored.created_at)
        if upload is not None:
            with suppress(NotFound, Gone, Conflict):
                data = b"".join([part async for part in iterate_content(deps.blobs, upload.parts)])
                modified = stored.modified[stored.read_count] or upload.created_at
                source = SourceFile(
                    name=upload.name, data=data, modified=modified, upload_id=upload_id
                )
        read, _ = await read_sources(deps, uid, stored, [source])
    moved = await store_read(deps, uid, stored, read)
    await delete_upload(deps, uid, upload_id)
    return moved


Keeper = Callable[[ImportDeps, UserId, dict[str, Any]], Awaitable[None]]
KEEPERS: Mapping[str, Keeper] = {
    "conversation": keep_conversation,
    "recording": keep_recording,
    "person": keep_person,
    "memory": keep_memory,
    "action_item": keep_action_item,
    "restored": keep_restored,
    **{kind: partial(keep_restored_record, kind) for kind in RESTORED_KINDS.values()},
}
