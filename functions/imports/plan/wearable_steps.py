"""Import of a wearable: its owner's key is sealed while pages come, and forgotten with the last one."""

import json
from base64 import b64decode, b64encode
from dataclasses import replace

from functions.imports.plan.start_import import (
    add_import,
    build_import,
    read_sources,
    store_read,
)
from functions.imports.wearables.fetch_pages import MAX_ITEMS, Fetched, Source, fetch_pages
from functions.imports.wearables.services import WEARABLES
from shared.domain.errors import CannotUnwrap
from shared.domain.files.file_import import FileImport
from shared.domain.files.wearable_name import WearableName
from shared.domain.ids import UserId
from shared.library.deps import ImportDeps

MAX_STEPS = 1_000
"""An API whose pages lead in a circle comes to an end."""
LOST_KEY = "The key cannot be read here any more: import again with it"


async def start_wearable_import(
    deps: ImportDeps, uid: UserId, wearable: WearableName, key: str, *, is_preview: bool
) -> FileImport:
    """Have everything fetched that a wearable recorded, and kept as start_import() does. Raises TooMany."""
    new = await build_import(deps, uid, is_preview=is_preview)
    wrapped = await deps.signing_keys.wrap(key.encode(), bound_to=_build_binding(uid, new.id))
    sealed = b64encode(wrapped).decode()
    return await add_import(deps, uid, replace(new, wearable=wearable, sealed_key=sealed))


def _build_binding(uid: UserId, import_id: str) -> str:
    return f"users/{uid}/imports/{import_id}/key"


async def read_next_pages(
    deps: ImportDeps, uid: UserId, stored: FileImport, wearable: WearableName
) -> FileImport:
    """Fetch and read the next pages; return the import as it is then."""
    fetched = await _fetch(deps, uid, stored, wearable)
    if stored.read_count + 1 >= MAX_STEPS and not fetched.is_last:
        refusal = (
            f"{WEARABLES[wearable].label} gives more than {MAX_STEPS * MAX_ITEMS:,} recordings"
        )
        fetched = replace(fetched, is_last=True, refusal=refusal)
    waits = {"resumes_at": fetched.waits_until, "waits_for": fetched.waits_for}
    if fetched.waits_until and not fetched.items:
        return await deps.stores.file_imports.move(uid, stored, **waits)
    read = await _read(deps, uid, stored, fetched, wearable)
    sealed_key = "" if fetched.is_last else stored.sealed_key
    return await store_read(
        deps, uid, stored, read, cursor=fetched.cursor, sealed_key=sealed_key, **waits
    )


async def _fetch(
    deps: ImportDeps, uid: UserId, stored: FileImport, wearable: WearableName
) -> Fetched:
    try:
        binding = _build_binding(uid, stored.id)
        key = await deps.signing_keys.unwrap(b64decode(stored.sealed_key), bound_to=binding)
    except CannotUnwrap:
        return Fetched(items=[], cursor="", is_last=True, refusal=LOST_KEY)
    source = Source(
        egress=deps.egress,
        wearable=WEARABLES[wearable],
        address=deps.wearable_addresses[wearable],
        key=key.decode(),
        has_answered=stored.read_count > 0 or stored.resumes_at is not None,
    )
    return await fetch_pages(source, stored.cursor, deps.clock.now())


async def _read(
    deps: ImportDeps, uid: UserId, stored: FileImport, fetched: Fetched, wearable: WearableName
) -> FileImport:
    """Read what was fetched as a file of the wearable; why nothing more comes stands beside it."""
    from functions.imports.plan.plan import SourceFile, plan_refusal

    service = WEARABLES[wearable]
    name = f"{service.label} {stored.read_count + 1}"
    data = json.dumps(service.wrap(fetched.items)).encode()
    sources = [SourceFile(name=f"{name}.json", data=data, modified=stored.created_at)]
    refusals = [plan_refusal(service.label, fetched.refusal)] if fetched.refusal else []
    read, _ = await read_sources(
        deps,
        uid,
        stored,
        sources if fetched.items else [],
        refusals=refusals,
        has_more=not fetched.is_last,
    )
    return read
