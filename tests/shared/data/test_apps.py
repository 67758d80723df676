"""Apps, who installed them, and their calls, over the store that follows Firestore's rules."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.adapters.sqlite_database import SqliteDatabase
from shared.adapters.sqlite_documents import SqliteDocuments
from shared.data.app_calls import AppCalls
from shared.data.apps import Apps, InstalledApps, app_path
from shared.data.call_log import CallLog
from shared.domain.app import App, AppCall, ExternalIntegration, InstalledApp
from shared.domain.documents import Write
from shared.domain.errors import Conflict, NotFound, PreconditionFailed
from shared.domain.ids import AppId, UserId
from shared.ports import Documents
from shared.wiring import ROOT
from tests.contracts.test_documents import firestore_documents
from tests.doubles import ReadRounds

ANN = UserId("ann")
NOTES = AppId("NOTES")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def documents(tmp_path: Path) -> Iterator[Documents]:
    database = SqliteDatabase(tmp_path / "keepsake.db")
    indexes = FirestoreIndexes.read(ROOT / "infra/firestore.indexes.json")
    yield SqliteDocuments(database, indexes)
    database.close()


@pytest.fixture(params=["sqlite", pytest.param("firestore", marks=pytest.mark.emulators)])
def anywhere(
    request: pytest.FixtureRequest, documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> Documents:
    if request.param == "sqlite":
        return documents
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", request.getfixturevalue("firestore_emulator"))
    return firestore_documents()


def installed(app_id: str) -> InstalledApp:
    integration = ExternalIntegration(actions=({"action": "create_memories"},))
    app = App(
        id=AppId(app_id), owner=ANN, name="n", created_at=NOON, external_integration=integration
    )
    return InstalledApp.of(app, NOON)


async def test_t4_installed_apps_stand_by_id_whoever_came_first(anywhere: Documents):
    apps = InstalledApps(anywhere)
    for app_id in ("B", "C", "A", "B"):
        await apps.add(ANN, installed(app_id))
    await apps.remove(ANN, AppId("C"))

    assert await apps.all(ANN) == [installed("A"), installed("B")]
    assert await apps.get(ANN, AppId("A")) == installed("A")
    assert await apps.get(ANN, AppId("C")) is None
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


async def test_t9_a_verdict_that_holds_already_is_not_written_again(documents: Documents):
    """Hundreds of calls may come to it at once, and a document takes one write a second."""
    apps = Apps(documents)
    await apps.create(App(id=NOTES, owner=ANN, name="Notes", created_at=NOON))
    before = await documents.get(app_path(NOTES))

    await apps.revise(NOTES, lambda app: replace(app, name="Notes"))

    assert await documents.get(app_path(NOTES)) == before


def called(minute: int, *, failed: bool = False) -> AppCall:
    at = NOON + timedelta(minutes=minute)
    return AppCall(id=f"c{minute}", at=at, kind="tool", name="t", ms=3, user="u", failed=failed)


async def test_t9_failures_in_a_row_begin_behind_the_last_call_that_worked(anywhere: Documents):
    log = CallLog(anywhere)
    for minute, failed in ((1, True), (2, False), (3, True), (4, True), (5, True)):
        await log.add(NOTES, called(minute, failed=failed))
        await log.add(AppId("OTHER"), called(minute))

    async def minutes(after: datetime, limit: int = 9) -> list[str]:
        found = await log.failures_in_a_row(NOTES, after=after, limit=limit)
        return [call.id for call in found]

    assert await minutes(NOON) == ["c3", "c4", "c5"]
    assert await minutes(NOON, 2) == ["c3", "c4"]
    assert await minutes(NOON + timedelta(minutes=4)) == ["c5"]


async def test_t9_what_arrived_is_told_by_its_kind_and_time(anywhere: Documents):
    log, heard = CallLog(anywhere), called(1)
    await log.add(NOTES, replace(heard, kind="webhook"))
    await log.add(NOTES, replace(called(2, failed=True), kind="webhook"))
    await log.add(NOTES, called(3))

    assert await log.has_arrived(NOTES, "webhook", after=NOON)
    assert not await log.has_arrived(NOTES, "webhook", after=heard.at)
    assert not await log.has_arrived(NOTES, "mcp", after=NOON)


async def test_t20_calls_are_listed_newest_first_as_far_back_as_asked(anywhere: Documents):
    log = CallLog(anywhere)
    for minute in range(5):
        await log.add(NOTES, called(minute))

    newest = await log.newest(NOTES, since=NOON, limit=3)

    assert [call.id for call in newest] == ["c4", "c3", "c2"]
    assert newest[0] == called(4)


class Overtaken:
    """Documents in which another call begins the hour once this one has found that nobody had."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._others = [called(1)]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._documents, name)

    async def write(self, *writes: Write) -> None:
        try:
            await self._documents.write(*writes)
        except PreconditionFailed:
            while self._others:
                other = self._others.pop()
                await AppCalls(self._documents).note(ANN, NOTES, other, NOON, is_first=True)
            raise


async def test_t9_calls_at_once_are_all_counted_whoever_thought_to_be_first(anywhere: Documents):
    calls = AppCalls(anywhere)
    app_id = AppId("01ARZ3NDEKTSV4RRFFQ69G5FAV")  # begins with a digit, as ours do

    async def note(n: int) -> None:
        await calls.note(ANN, app_id, called(n), NOON, is_first=n % 2 == 0)

    async with anyio.create_task_group() as tasks:
        for n in range(6):
            tasks.start_soon(note, n)

    standing = await calls.standing(ANN, app_id, NOON)
    assert standing.made == {app_id: 6}
    assert (standing.app, standing.is_installed) == (None, False)
    assert len(await CallLog(anywhere).newest(app_id, since=NOON - timedelta(days=1), limit=9)) == 6


async def test_t9_a_call_is_counted_though_somebody_else_begins_the_hour_meanwhile(
    documents: Documents,
):
    overtaken = AppCalls(Overtaken(documents))

    await overtaken.note(ANN, NOTES, called(2), NOON, is_first=False)

    assert (await AppCalls(documents).standing(ANN, NOTES, NOON)).made == {NOTES: 2}


async def test_t9_how_a_user_stands_to_an_app_is_read_in_one_round(documents: Documents):
    app = App(id=NOTES, owner=ANN, name="Notes", created_at=NOON)
    await Apps(documents).create(app)
    await InstalledApps(documents).add(ANN, installed(NOTES))
    counting = ReadRounds(documents)

    standing = await AppCalls(counting).standing(ANN, NOTES, NOON)

    assert (standing.app, standing.is_installed, standing.made) == (app, True, {})
    assert (counting.rounds, counting.documents) == (1, 3)
