"""Erasing again: a restored database loses who was erased since its backup, and nobody else (D12)."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from google.auth.credentials import AnonymousCredentials
from google.cloud.firestore import AsyncClient

from infra.erase_again import erase_again, list_users
from shared.adapters.cloud.firestore_documents import FirestoreDocuments
from shared.adapters.store_clock import StoreClock
from shared.adapters.system_clock import SystemClock
from shared.data.account.erasures import Erasures
from shared.data.chats.crisis_log import CrisisLog
from shared.domain.ids import UserId
from shared.domain.store.documents import Query, Set
from shared.security.pseudonyms import Pseudonyms

pytestmark = pytest.mark.emulators

SNAPSHOT = datetime(2026, 3, 1, tzinfo=UTC)
BEFORE, AFTER = SNAPSHOT - timedelta(days=1), SNAPSHOT + timedelta(days=1)


@pytest.fixture
def databases(
    firestore_emulator: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[AsyncClient, AsyncClient]]:
    """The database in use, and the restored one beside it."""
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", firestore_emulator)
    project, nobody = f"test-{uuid4().hex[:12]}", AnonymousCredentials()
    with (
        closing(AsyncClient(project=project, credentials=nobody)) as used,
        closing(AsyncClient(project=project, credentials=nobody, database="restored")) as restored,
    ):
        yield used, restored


async def erase(erasures: Erasures, uid: str, at: datetime, *, is_done: bool) -> None:
    erasure = await erasures.begin(UserId(uid), at)
    claimed = await erasures.claim(erasure.id, "attempt", at, is_sweep=False)
    assert claimed is not None
    if is_done:
        await erasures.save(replace(claimed, status="done", done_at=at))


async def test_who_was_erased_after_the_backup_is_erased_again_d12(
    databases: tuple[AsyncClient, AsyncClient],
) -> None:
    used, restored_client = databases
    restored = FirestoreDocuments(restored_client, StoreClock(SystemClock()))
    pseudonyms = Pseudonyms(b"a key of the tests")
    erasures = Erasures(FirestoreDocuments(used, StoreClock(SystemClock())), pseudonyms)
    for uid in ("stays", "left", "leaves", "returned"):
        await restored.write(
            Set(f"users/{uid}/conversations/talk", {"title": uid}),
            Set(f"users/{uid}/memories/tea", {"content": uid}),
            Set(f"crisis_log/{uid}", {"user": pseudonyms.hash(UserId(uid))}),
        )
    await erase(erasures, "left", AFTER, is_done=True)
    await erase(erasures, "leaves", AFTER, is_done=False)
    await erase(erasures, "returned", BEFORE, is_done=True)

    erased = await erase_again(
        restored, list_users(restored_client), erasures, CrisisLog(restored, pseudonyms), SNAPSHOT
    )

    assert sorted(erased) == ["leaves", "left"]
    assert {uid async for uid in list_users(restored_client)} == {"stays", "returned"}
    events = await restored.query(Query(collection="crisis_log"))
    assert {event.id for event in events if event.fields["user"]} == {"stays", "returned"}
