"""Imports as documents: of several attempts at one step, one moves it (U1)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import anyio
import pytest

from shared.data.files.file_imports import FileImports
from shared.domain.errors import NotFound
from shared.domain.files.file_import import FileImport
from shared.domain.ids import UserId
from shared.ports import Documents

pytestmark = pytest.mark.anyio

ALICE = UserId("alice")
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
IMPORT = FileImport(
    id="i1",
    created_at=NOW,
    expires_at=NOW + timedelta(days=7),
    status="keeping",
    uploads=("u1", "u2"),
    modified=(NOW, None),
    batch_count=3,
    text_files=(4, 5),
)


async def test_an_import_is_stored_whole(any_documents: Documents) -> None:
    imports = FileImports(any_documents)

    await imports.add(ALICE, IMPORT)

    assert await imports.get(ALICE, "i1") == IMPORT


async def test_of_two_attempts_at_a_step_one_moves_it_u1(any_documents: Documents) -> None:
    imports = FileImports(any_documents)
    await imports.add(ALICE, IMPORT)
    results: list[FileImport] = []

    async def move() -> None:
        results.append(await imports.move(ALICE, IMPORT, position=1, kept_count=25))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(move)
        tasks.start_soon(move)

    moved = replace(IMPORT, position=1, kept_count=25)
    assert results == [moved, moved]
    assert await imports.move(ALICE, IMPORT, position=1, kept_count=50) == moved


async def test_an_import_that_is_gone_is_not_moved(any_documents: Documents) -> None:
    with pytest.raises(NotFound):
        await FileImports(any_documents).move(ALICE, IMPORT, position=1)


async def test_open_imports_are_counted(any_documents: Documents) -> None:
    imports = FileImports(any_documents)
    await imports.add(ALICE, IMPORT)
    await imports.add(ALICE, replace(IMPORT, id="i2", status="preview"))
    await imports.add(ALICE, replace(IMPORT, id="i3", status="completed"))

    assert await imports.count_open(ALICE) == 2
    assert [preview.id for preview in await imports.list_previews(ALICE)] == ["i2"]
