"""Bin over HTTP, for the console: move there, list, restore, delete for good.

Also called: trash, recycle bin, undo of a deletion.
"""

from typing import Any, cast

from functions.library.bin.bin_schemas import BinEntryOut
from functions.library.bin.library_bin import delete_from_bin, move_to_bin, restore
from shared.domain.account.bin_entry import KINDS, BinKind
from shared.domain.errors import NotFound
from shared.edge.declare.routes import Call, route
from shared.library.deps import LibraryDeps


@route("GET", "/v1/bin", "List what is in the bin, what was moved there last first", errors=(401,))
async def list_bin(deps: LibraryDeps, call: Call) -> list[BinEntryOut]:
    entries = await deps.stores.bin_entries.list_newest(call.uid, deps.clock.now())
    return [BinEntryOut.of(entry) for entry in entries]


@route(
    "POST",
    "/v1/bin/{kind}/{record_id}",
    "Move a conversation, a memory or a task to the bin, where it stays for thirty days",
    errors=(401, 404, 409, 413),
)
async def move(deps: LibraryDeps, call: Call) -> BinEntryOut:
    return BinEntryOut.of(await move_to_bin(deps, call.uid, _kind(call), call.path["record_id"]))


@route(
    "POST",
    "/v1/bin/{kind}/{record_id}/restore",
    "Bring back what is in the bin",
    status=204,
    errors=(401, 404),
)
async def restore_entry(deps: LibraryDeps, call: Call) -> None:
    await restore(deps, call.uid, _kind(call), call.path["record_id"])


@route(
    "DELETE",
    "/v1/bin/{kind}/{record_id}",
    "Delete what is in the bin for good",
    status=204,
    errors=(401, 404),
)
async def delete_entry(deps: LibraryDeps, call: Call) -> None:
    await delete_from_bin(deps, call.uid, _kind(call), call.path["record_id"])


def _kind(call: Call[Any, Any]) -> BinKind:
    """Raises NotFound."""
    kind = call.path["kind"]
    if kind not in KINDS:
        raise NotFound("The bin takes conversations, memories and tasks.")
    return cast("BinKind", kind)


ROUTES = (list_bin, move, restore_entry, delete_entry)
