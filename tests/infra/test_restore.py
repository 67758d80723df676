"""Restore drill: an export of the documents, restored into an empty database, equals it (D12).

A real library, of every kind that its owner makes, is copied into Firestore's emulator, exported in the
format of Firestore's managed exports, and read back from another, empty emulator.
"""

import asyncio
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from google.auth.credentials import AnonymousCredentials
from google.cloud.firestore import AsyncClient, Client, CollectionReference, DocumentReference
from google.cloud.firestore_v1.base_document import DocumentSnapshot

from infra.bench.libraries import RecordCounts
from infra.emulators.firestore import export_documents, run_firestore
from infra.restore_drill import Comparison, drill
from shared.adapters.cloud.firestore_documents import FirestoreDocuments
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.store_clock import StoreClock
from shared.adapters.system_clock import SystemClock
from shared.domain.store.documents import Fields, Set
from tests.conftest import ROOT, run_or_skip
from tests.e2e.product import run_product
from tests.e2e.test_moving import export_settled, fill
from tests.fixtures.storage import INDEXES

pytestmark = pytest.mark.emulators

PROJECT = "demo-restore"
RULES = ROOT / "infra/firestore.rules"
EVERY_TYPE: Fields = {
    "text": "Zürich \N{WAVING HAND SIGN}",
    "number": 2**53 - 1,
    "fraction": 0.1,
    "yes": True,
    "nothing": None,
    "bytes": b"\x00\xff",
    "time": datetime(2026, 3, 2, 9, 30, 0, 123456, tzinfo=UTC),
    "list": [1, {"a": ["b"]}],
    "map": {"empty": {}, "list": []},
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Fields]:
    """All documents of a product in use, and one of every type, by path."""
    folder = tmp_path_factory.mktemp("product")
    with run_product(folder) as product, product.client("alice") as alice:
        fill(alice)
        export_settled(alice)
    return {**asyncio.run(read_product(folder / "data/keepsake.db")), "kinds/every": EVERY_TYPE}


async def read_product(file: Path) -> dict[str, Fields]:
    with closing(sqlite3.connect(file)) as connection:
        paths = [row[0] for row in connection.execute("SELECT path FROM documents")]
    with closing(SqliteDatabase(file)) as database:
        found = await SqliteDocuments(database, INDEXES).get_many(paths)
    return {document.path: document.fields for document in found if document}


async def write_all(documents: Mapping[str, Fields]) -> None:
    with closing(AsyncClient(project=PROJECT, credentials=AnonymousCredentials())) as client:
        store = FirestoreDocuments(client, StoreClock(SystemClock()))
        for path, fields in documents.items():
            await store.write(Set(path, fields))


def read_all() -> dict[str, Any]:
    """Read what a database holds, whatever its collections are called."""
    with closing(Client(project=PROJECT, credentials=AnonymousCredentials())) as client:
        return {
            snapshot.reference.path: snapshot.to_dict()
            for collection in client.collections()
            for snapshot in list_snapshots(collection)
        }


def list_snapshots(collection: CollectionReference) -> Iterator[DocumentSnapshot[Any]]:
    """List documents, also those below a document that does not exist itself."""
    reference: DocumentReference
    for reference in collection.list_documents():
        snapshot = reference.get()
        if snapshot.exists:
            yield snapshot
        for below in reference.collections():
            yield from list_snapshots(below)


def test_a_restore_into_an_empty_database_equals_the_export_d12(
    library: dict[str, Fields], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with run_or_skip(lambda: run_firestore(tmp_path / "first.log", rules=RULES)) as first:
        monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", first)
        empty = read_all()
        asyncio.run(write_all(library))
        before = read_all()
        export = export_documents(first, project=PROJECT, folder=tmp_path)
    with run_firestore(tmp_path / "second.log", rules=RULES, export=export) as second:
        monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", second)
        restored = read_all()

    assert empty == {}  # an emulator begins with nothing: what the second holds was restored
    assert before.keys() == library.keys()
    assert restored == before
    assert restored["kinds/every"] == EVERY_TYPE
    assert {path.split("/")[2] for path in restored if path.startswith("users/alice/")} >= {"conversations", "memories", "action_items", "goals"}  # fmt: skip


def test_a_drill_finds_documents_rows_and_answers_again_d12(tmp_path: Path) -> None:
    """As `make restore-drill` does with 20,000 conversations."""
    counts = RecordCounts(conversations=20, memories=10, tasks=5, people=3)

    with run_or_skip(lambda: nullcontext(drill(tmp_path, counts))) as comparisons:
        found = {comparison.name: comparison.is_whole for comparison in comparisons}

    assert found == dict.fromkeys(
        ("documents", "rows of the index", "dense rows", "questions that find their conversation"),
        True,
    )


def test_a_comparison_tells_what_is_missing_added_or_different() -> None:
    compared = Comparison.of("documents", {"a": 1, "b": 2, "c": 3}, {"b": 2, "c": 4, "d": 5})

    assert (compared.missing, compared.added, compared.different) == (["a"], ["d"], ["c"])
    assert not compared.is_whole
    assert not Comparison.of("documents", {}, {}).is_whole, "nothing was compared"
