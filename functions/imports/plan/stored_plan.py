"""Stored plan of an import: batches of items and the report, as compressed files."""

import gzip
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from shared.domain.errors import TooLarge
from shared.domain.files.file_import import FileImport, import_folder
from shared.domain.ids import UserId
from shared.domain.value import value
from shared.ports import Blobs

if TYPE_CHECKING:
    from functions.imports.plan.plan import Plan

MAX_BATCH_ITEMS = 25
MAX_BATCH_CHARS = 1_000_000
MAX_BLOB_BYTES = 8_388_608
MEDIA_TYPE = "application/gzip"
QUESTION_MARK = "?"


@value
class Item:
    """A conversation or a record to be kept; `file` is the number of its file.

    `is_question`: it is kept only if its owner says so.
    """

    file: int
    is_question: bool
    kind: str
    fields: dict[str, Any]


async def write_plan(blobs: Blobs, uid: UserId, stored: FileImport, plans: "Sequence[Plan]") -> int:
    """Store what was read behind the batches that are there; return how many there are then.

    To store it again changes nothing. Raises TooLarge.
    """
    folder = import_folder(uid, stored.id)
    entries = [entry for plan in plans for entry in plan.entries]
    items = [items for plan in plans for items in plan.items]
    heads = [
        f"{number}{QUESTION_MARK if entry['status'] == 'question' else ''}"
        for number, entry in enumerate(entries, stored.file_count)
    ]
    count = stored.batch_count
    for lines in _build_batches(heads, items):
        await _write(blobs, f"{folder}/batches/{count}", "\n".join(lines))
        count += 1
    await _write(blobs, f"{folder}/reports/{stored.read_count}", json.dumps(entries))
    return count


def _build_batches(heads: Sequence[str], items: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    """Yield batches of lines: the head of the file, a tab, and the item."""
    batch: list[str] = []
    size = 0
    for head, lines in zip(heads, items, strict=True):
        for line in lines:
            if batch and (len(batch) == MAX_BATCH_ITEMS or size + len(line) > MAX_BATCH_CHARS):
                yield batch
                batch, size = [], 0
            batch.append(f"{head}\t{line}")
            size += len(line)
    if batch:
        yield batch


async def read_batch(blobs: Blobs, uid: UserId, stored: FileImport, number: int) -> list[Item]:
    """Return the items of a batch. Raises NotFound."""
    text = await _read(blobs, f"{import_folder(uid, stored.id)}/batches/{number}")
    return [_parse_item(line) for line in text.split("\n")]


def _parse_item(line: str) -> Item:
    head, _, text = line.partition("\t")
    fields = json.loads(text)
    return Item(
        file=int(head.rstrip(QUESTION_MARK)),
        is_question=head.endswith(QUESTION_MARK),
        kind=fields.pop("kind"),
        fields=fields,
    )


async def read_report(blobs: Blobs, uid: UserId, stored: FileImport) -> list[dict[str, Any]]:
    """Return what became of each file that is read."""
    entries: list[dict[str, Any]] = []
    for number in range(stored.read_count):
        text = await _read(blobs, f"{import_folder(uid, stored.id)}/reports/{number}")
        entries += json.loads(text)
    return entries


async def delete_plan(blobs: Blobs, uid: UserId, stored: FileImport) -> None:
    """Delete what was to be kept; the report stays."""
    await blobs.delete_tree(f"{import_folder(uid, stored.id)}/batches")


async def _write(blobs: Blobs, path: str, text: str) -> None:
    content = await to_thread.run_sync(
        lambda: gzip.compress(text.encode(errors="replace"), 5, mtime=0)
    )
    if len(content) > MAX_BLOB_BYTES:
        raise TooLarge("The files hold more than one import can take; import them in parts")
    await blobs.write(path, content, media_type=MEDIA_TYPE)


async def _read(blobs: Blobs, path: str) -> str:
    content = await blobs.read(path)
    return await to_thread.run_sync(lambda: gzip.decompress(content).decode())
