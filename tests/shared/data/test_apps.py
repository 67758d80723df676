"""Apps, who installed them, and their calls, over the store that follows Firestore's rules."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest

from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.adapters.sqlite_database import SqliteDatabase
from shared.adapters.sqlite_documents import SqliteDocuments
from shared.data.apps import Apps, InstalledApps
from shared.data.call_log import CallLog
from shared.domain.app import App, AppCall, InstalledApp
from shared.domain.errors import Conflict, NotFound
from shared.domain.ids import AppId, UserId
from shared.ports import Documents
from shared.wiring import ROOT

ANN = UserId("ann")
NOTES = AppId("NOTES")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def documents(tmp_path: Path) -> Iterator[Documents]:
    database = SqliteDatabase(tmp_path / "keepsake.db")
    indexes = FirestoreIndexes.read(ROOT / "infra/firestore.indexes.json")
    yield SqliteDocuments(database, indexes)
    database.close()


def installed(app_id: str) -> InstalledApp:
    return InstalledApp(app_id=AppId(app_id), installed_at=NOON)


async def test_t4_installed_apps_stand_by_id_whoever_came_first(documents: Documents):
    apps = InstalledApps(documents)
    for app_id in ("B", "C", "A", "B"):
        await apps.add(ANN, installed(app_id))
    await apps.remove(ANN, AppId("C"))

    assert await apps.all(ANN) == [installed("A"), installed("B")]
    assert await apps.has(ANN, AppId("A"))
    assert not await apps.has(ANN, AppId("C"))
    assert await apps.all(UserId("bob")) == []


async def test_t4_when_the_last_app_goes_nothing_is_left(documents: Documents):
    apps = InstalledApps(documents)
    await apps.add(ANN, installed("A"))
    await apps.remove(ANN, AppId("A"))
    await apps.remove(ANN, AppId("A"))

    assert await documents.get("users/ann/installed_apps/all") is None


async def test_t4_installed_at_once_no_app_is_lost_and_the_limit_holds(documents: Documents):
    apps = InstalledApps(documents)
    refused = []

    async def install(app_id: str) -> None:
        try:
            await apps.add(ANN, installed(app_id), limit=5)
        except Conflict:
            refused.append(app_id)

    async with anyio.create_task_group() as tasks:
        for n in range(8):
            tasks.start_soon(install, f"A{n}")

    assert len(await apps.all(ANN)) == 5
    assert len(refused) == 3
    await apps.add(ANN, (await apps.all(ANN))[0], limit=5)


async def test_two_changes_of_an_app_are_both_kept(documents: Documents):
    apps = Apps(documents)
    await apps.create(App(id=NOTES, owner=ANN, name="Notes", created_at=NOON))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(apps.revise, NOTES, lambda app: replace(app, name="Other"))
        tasks.start_soon(apps.revise, NOTES, lambda app: replace(app, description="New"))

    app = await apps.get(NOTES)
    assert (app.name, app.description) == ("Other", "New")
    with pytest.raises(NotFound):
        await apps.revise(AppId("GONE"), lambda app: app)


def called(minute: int, *, failed: bool = False) -> AppCall:
    at = NOON + timedelta(minutes=minute)
    return AppCall(id=f"c{minute}", at=at, kind="tool", name="t", ms=3, user="u", failed=failed)


async def test_t9_failures_in_a_row_begin_behind_the_last_call_that_worked(documents: Documents):
    log = CallLog(documents)
    for minute, failed in ((1, True), (2, False), (3, True), (4, True), (5, True)):
        await log.add(NOTES, called(minute, failed=failed))
        await log.add(AppId("OTHER"), called(minute))

    async def minutes(after: datetime, limit: int = 9) -> list[str]:
        found = await log.failures_in_a_row(NOTES, after=after, limit=limit)
        return [call.id for call in found]

    assert await minutes(NOON) == ["c3", "c4", "c5"]
    assert await minutes(NOON, 2) == ["c3", "c4"]
    assert await minutes(NOON + timedelta(minutes=4)) == ["c5"]


async def test_t20_calls_are_listed_newest_first_as_far_back_as_asked(documents: Documents):
    log = CallLog(documents)
    for minute in range(5):
        await log.add(NOTES, called(minute))

    newest = await log.newest(NOTES, since=NOON, limit=3)

    assert [call.id for call in newest] == ["c4", "c3", "c2"]
    assert newest[0] == called(4)
