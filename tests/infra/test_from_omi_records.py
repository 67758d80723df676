"""Moving from Omi's own project: whatever stands in a document, it is taken or named, and costs no other (L4)."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from hypothesis import given, settings
from hypothesis import strategies as st

from infra.from_omi.__main__ import BUILDERS, Parts, Report, write_user
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.omi_documents import OmiDocuments
from shared.data.account.accounts import Accounts
from shared.data.store.omi_form import OmiForm
from shared.domain.ids import UserId
from shared.domain.store.documents import Fields, Set
from tests.fixtures.storage import INDEXES, MemoryDatabase

ANN = UserId("ann")
KINDS = (
    *BUILDERS,
    "conversations",
    "folders",
    "goals",
    "messages",
    "people",
    "fcm_tokens",
    "unknown",
)
NAMES = (
    "id", "text", "content", "description", "name", "title", "sender", "category", "order", "color", "date",
    "created_at", "updated_at", "started_at", "finished_at", "chat_session_id", "app_id", "rating", "chart_data",
    "transcript_segments", "transcript_segments_compressed", "data_protection_level", "apps_results",
    "structured", "indent_level", "user_review", "deleted", "headline", "overview", "metadata", "files",
)  # fmt: skip
SCALARS = (
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8) | st.binary(max_size=8)
    | st.just(datetime(2026, 3, 2, tzinfo=UTC)) | st.sampled_from(["enhanced", "ai", "human"])
)  # fmt: skip
MAPS = st.dictionaries(st.sampled_from(NAMES), SCALARS, max_size=2)
VALUES = SCALARS | MAPS | st.lists(SCALARS | MAPS, max_size=2)
FIELDS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=8)


async def write(folder: Path, documents: dict[str, Fields]) -> Report:
    stored = SqliteDocuments(MemoryDatabase(), INDEXES)
    await stored.write(*(Set(f"users/{ANN}/{path}", fields) for path, fields in documents.items()))
    accounts = Accounts(OmiDocuments(stored, OmiForm(secret="x" * 32)))
    with Parts(folder) as parts:
        return await write_user(accounts, ANN, KINDS, parts)


@settings(max_examples=30)
@given(st.lists(FIELDS, min_size=len(KINDS), max_size=len(KINDS)))
def test_every_document_is_taken_or_named_l4(contents: list[Fields]) -> None:
    good = {"content": "likes tea", "created_at": datetime(2026, 3, 2, tzinfo=UTC)}
    documents = {f"{kind}/a": fields for kind, fields in zip(KINDS, contents, strict=True)}

    with TemporaryDirectory() as folder:
        report = asyncio.run(write(Path(folder), {**documents, "memories/good": good}))
        with ZipFile(Path(folder) / "part-1.zip") as archive:
            memories = json.loads(archive.read("memories.json"))

    named = [path for paths in report.left.values() for path in paths]
    assert report.taken.total() + len(named) == len(documents) + 1
    assert "good" in [memory["id"] for memory in memories]


def test_a_large_library_becomes_several_zips_l4(tmp_path: Path) -> None:
    with Parts(tmp_path, max_files=2) as parts:
        for name in ("profile.json", "a.json", "b.json"):
            parts.add(name, {})

    names = []
    for path in sorted(tmp_path.iterdir()):
        with ZipFile(path) as archive:
            names.append(archive.namelist())
    assert names == [["profile.json", "a.json"], ["b.json"]]
