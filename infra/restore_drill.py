"""Restore drill, `make restore-drill`: a large library is exported, restored into an empty project and compared.

It goes the way that docs/operate.md describes, on Firestore's emulator, which exports and imports in the format of
managed exports. The index is not restored but built anew, and must be what it was.
"""

import argparse
import asyncio
import os
import random
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from google.auth.credentials import AnonymousCredentials
from google.cloud.firestore import AsyncClient

from infra.bench.libraries import BATCH_SIZE, OWNER, GeneratedLibrary, RecordCounts, split
from infra.emulators.firestore import export_documents, run_firestore
from infra.emulators.process import CannotRunError
from infra.local.routing import ROOT
from infra.progress import create_progress_bar
from infra.reindex import reindex
from infra.soak.firestore_rows import count_rows
from shared.adapters.cloud.firestore_documents import FirestoreDocuments
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.adapters.store_clock import StoreClock
from shared.adapters.system_clock import SystemClock
from shared.data.account.quotas import Quotas
from shared.data.conversations.conversations import conversation_path
from shared.data.search.library_index import LibraryIndex
from shared.data.search.search import Search
from shared.data.stores import Stores
from shared.domain.ids import ConversationId, UserId
from shared.domain.store.documents import Document, Fields, Set
from shared.ports import Documents, Vectors
from tests.letter_vectors import embed_letters

PROJECT = "demo-restore"
RULES = ROOT / "infra/firestore.rules"
TURNS = 5
QUESTIONS, QUESTION_WORDS, MAX_HITS = 50, 8, 5
ROWS = "SELECT id, indices, weights, metadata FROM vector_rows"
DENSE_ROWS = "SELECT id, vector FROM vector_dense"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What became of things of one kind: how many there were, and which are not as they were."""

    name: str
    count: int
    missing: Sequence[str]
    added: Sequence[str]
    different: Sequence[str]

    @classmethod
    def of(cls, name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> "Comparison":
        return cls(
            name=name,
            count=len(before),
            missing=sorted(before.keys() - after.keys()),
            added=sorted(after.keys() - before.keys()),
            different=[key for key in before.keys() & after.keys() if before[key] != after[key]],
        )

    @property
    def is_whole(self) -> bool:
        return self.count > 0 and not (self.missing or self.added or self.different)

    def __str__(self) -> str:
        counts = f"{len(self.missing)} missing, {len(self.added)} added"
        return f"{self.name}: {self.count:,} before; {counts}, {len(self.different)} different"


class LetterEmbedder:
    """An embedder that needs no model, so that dense rows are rebuilt as well."""

    name = "letters"
    embeds_later = False
    dimensions = 64

    async def embed(self, uid: UserId, texts: Sequence[str]) -> list[Sequence[float]]:
        return [embed_letters(text, self.dimensions) for text in texts]

    async def embed_question(self, uid: UserId, question: str) -> Sequence[float]:
        return embed_letters(question, self.dimensions)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was compared; return 1 where anything is not as it was."""
    parser = argparse.ArgumentParser(prog="make restore-drill", description=__doc__)
    parser.add_argument("conversations", type=int)
    count = parser.parse_args(arguments).conversations
    counts = RecordCounts(conversations=count, memories=count // 2, tasks=count // 4, people=300)
    with TemporaryDirectory(prefix="keepsake-drill-") as folder:
        try:
            comparisons = drill(Path(folder), counts)
        except CannotRunError as error:
            sys.exit(f"keepsake: {error}")
    for comparison in comparisons:
        print(comparison)
    return int(not all(comparison.is_whole for comparison in comparisons))


def drill(folder: Path, counts: RecordCounts) -> list[Comparison]:
    """Fill, export, restore and compare. Raises CannotRunError without an emulator."""
    asyncio.run(_fill(folder, counts))
    before = _read_paths(folder / "keepsake.db")
    with _emulate(folder / "first.log") as address:
        asyncio.run(_copy(folder, before))
        export = export_documents(address, project=PROJECT, folder=folder)
    with _emulate(folder / "second.log", export) as address:
        return asyncio.run(_compare(folder, before, count_rows(address, PROJECT)))


@contextmanager
def _emulate(log: Path, export: Path | None = None) -> Iterator[str]:
    """Run Firestore's emulator, and let Google's client find it by the variable that it reads."""
    environment = os.environ  # noqa: TID251  it is not ours
    before = dict(environment)
    with run_firestore(log, rules=RULES, export=export) as address:
        environment["FIRESTORE_EMULATOR_HOST"] = address
        try:
            yield address
        finally:
            environment.clear()
            environment.update(before)


async def _fill(folder: Path, counts: RecordCounts) -> None:
    """Make a library and its index, in the embedded world."""
    with GeneratedLibrary(folder) as library:
        tick = create_progress_bar("a library", counts.conversations // 20)
        await library.fill(counts.conversations, turns=TURNS, tick=tick)
        await library.add_records(counts)
        await _build_index(library.documents, library.vectors)


async def _build_index(documents: Documents, vectors: Vectors) -> None:
    index = LibraryIndex(vectors, LetterEmbedder())
    await reindex(OWNER, Stores(documents), index, Quotas(documents, {}))


def _read_paths(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as connection:
        return [path for (path,) in connection.execute("SELECT path FROM documents ORDER BY path")]


async def _copy(folder: Path, paths: Sequence[str]) -> None:
    """Write all documents to Firestore."""
    tick = create_progress_bar("documents in Firestore", len(paths) // BATCH_SIZE)
    with GeneratedLibrary(folder) as library, _open_firestore() as firestore:
        for batch in split(paths):
            found = await library.documents.get_many(batch)
            await firestore.write(*(Set(d.path, d.fields) for d in found if d))
            tick()


@contextmanager
def _open_firestore() -> Iterator[FirestoreDocuments]:
    with closing(AsyncClient(project=PROJECT, credentials=AnonymousCredentials())) as client:
        yield FirestoreDocuments(client, StoreClock(SystemClock()))


async def _compare(folder: Path, paths: Sequence[str], restored_count: int) -> list[Comparison]:
    """Compare documents, rebuild the index in an empty database, and compare rows and answers."""
    with GeneratedLibrary(folder) as library, _open_firestore() as firestore:
        before = await _read_documents(library.documents, paths)
        restored = await _read_documents(firestore, paths)
        others = {f"another {n}": None for n in range(restored_count - len(restored))}
        rebuilt = folder / "rebuilt.db"
        with closing(SqliteDatabase(rebuilt)) as database:
            vectors = SqliteVectors(database)
            await _build_index(firestore, vectors)
            questions = _draw_questions(before)
            answers = Comparison.of(
                "questions that find their conversation",
                questions,
                await _ask(firestore, vectors, questions),
            )
    stored = folder / "keepsake.db"
    return [
        Comparison.of("documents", before, {**restored, **others}),
        Comparison.of("rows of the index", _read_rows(stored, ROWS), _read_rows(rebuilt, ROWS)),
        Comparison.of("dense rows", _read_rows(stored, DENSE_ROWS), _read_rows(rebuilt, DENSE_ROWS)),
        answers,
    ]  # fmt: skip


async def _read_documents(documents: Documents, paths: Sequence[str]) -> dict[str, Fields]:
    found: list[Document | None] = []
    for batch in split(paths):
        found += await documents.get_many(batch)
    return {document.path: document.fields for document in found if document}


def _read_rows(file: Path, query: str) -> dict[str, Any]:
    with closing(sqlite3.connect(file)) as connection:
        return {name: rest for name, *rest in connection.execute(query)}


def _draw_questions(documents: Mapping[str, Fields]) -> dict[str, str]:
    """Return the first words of some conversations, and whose they are."""
    dice, root = random.Random(1), conversation_path(OWNER, ConversationId(""))  # noqa: S311 - no secret
    talks = sorted(path for path in documents if path.startswith(root))
    drawn = dice.sample(talks, min(QUESTIONS, len(talks)))
    return {_read_question(documents[path]): path.removeprefix(root) for path in drawn}


def _read_question(fields: Fields) -> str:
    words = str(fields["transcript_segments"][0]["text"]).split()
    return " ".join(words[:QUESTION_WORDS])


async def _ask(
    documents: Documents, vectors: Vectors, questions: Mapping[str, str]
) -> dict[str, str]:
    """Return the conversation that each question is about, where it is among the hits."""
    search = Search(documents, vectors, LetterEmbedder())
    found: dict[str, str] = {}
    for question, name in questions.items():
        hits = await search.search_conversations(OWNER, question, limit=MAX_HITS)
        if name in [hit.conversation.id for hit in hits]:
            found[question] = name
    return found


if __name__ == "__main__":
    raise SystemExit(main())
