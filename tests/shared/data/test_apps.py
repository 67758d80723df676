"""Apps, their installations and their calls, over a store with Firestore's rules."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import pytest

from shared.data.apps.app_calls import AppCalls
from shared.data.apps.apps import Apps, InstalledApps, app_path
from shared.data.apps.call_log import CallLog
from shared.domain.apps.app import App, AppCall, ExternalIntegration, InstalledApp
from shared.domain.errors import Conflict, NotFound, PreconditionFailed
from shared.domain.ids import AppId, UserId
from shared.domain.store.documents import Write
from shared.ports import Documents
from tests.fakes import CountingDocuments
from tests.fault_injection import FaultyPort

ANN = UserId("ann")
NOTES = AppId("NOTES")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def build_installed_app(app_id: str) -> InstalledApp:
    integration = ExternalIntegration(actions=({"action": "create_memories"},))
    app = App(
        id=AppId(app_id), owner=ANN, name="n", created_at=NOON, external_integration=integration
    )
    return InstalledApp.of(app, NOON)


async def test_installed_apps_are_listed_by_id_t4(any_documents: Documents):
    apps = InstalledApps(any_documents)
    for app_id in ("B", "C", "A", "B"):
        await apps.add(ANN, build_installed_app(app_id))
    await apps.remove(ANN, AppId("C"))

    assert await apps.list_all(ANN) == [build_installed_app("A"), build_installed_app("B")]
    assert await apps.get(ANN, AppId("A")) == build_installed_app("A")
    assert await apps.get(ANN, AppId("C")) is None
    assert await apps.list_all(UserId("bob")) == []


async def test_removing_the_last_app_deletes_the_document_t4(documents: Documents):
    apps = InstalledApps(documents)
    await apps.add(ANN, build_installed_app("A"))
    await apps.remove(ANN, AppId("A"))
    await apps.remove(ANN, AppId("A"))

    assert await documents.get("users/ann/installed_apps/all") is None


async def test_an_erasure_counts_what_is_installed_and_deleted_at_the_same_moment(
    any_documents: Documents,
):
    apps, installed = Apps(any_documents), InstalledApps(any_documents)
    for app_id in ("A", "B", "C"):
        await apps.create(App(id=AppId(app_id), owner=ANN, name="n", created_at=NOON))
    for app_id in ("A", "B"):
        await installed.add(ANN, build_installed_app(app_id))

    async def be_overtaken(call: Any) -> Any:
        await installed.add(ANN, build_installed_app("C"))
        await apps.remove(AppId("A"))
        return await call()

    documents: Any = FaultyPort(any_documents, transaction=[be_overtaken])
    await InstalledApps(documents).remove_all(ANN)

    assert [(await apps.get(AppId(app_id))).installs for app_id in ("B", "C")] == [0, 0]
    assert await installed.list_all(ANN) == []


async def test_concurrent_installs_lose_no_app_and_respect_the_limit_t4(documents: Documents):
    apps = InstalledApps(documents)
    refused_ids = []

    async def install(app_id: str) -> None:
        try:
            await apps.add(ANN, build_installed_app(app_id), limit=5)
        except Conflict:
            refused_ids.append(app_id)

    async with anyio.create_task_group() as tasks:
        for n in range(8):
            tasks.start_soon(install, f"A{n}")

    assert len(await apps.list_all(ANN)) == 5
    assert len(refused_ids) == 3
    await apps.add(ANN, (await apps.list_all(ANN))[0], limit=5)


async def test_two_concurrent_changes_of_an_app_are_both_stored(documents: Documents):
    apps = Apps(documents)
    await apps.create(App(id=NOTES, owner=ANN, name="Notes", created_at=NOON))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(apps.update_app, NOTES, lambda app: replace(app, name="Other"))
        tasks.start_soon(apps.update_app, NOTES, lambda app: replace(app, description="New"))

    app = await apps.get(NOTES)
    assert (app.name, app.description) == ("Other", "New")
    with pytest.raises(NotFound):
        await apps.update_app(AppId("GONE"), lambda app: app)


async def test_a_change_without_effect_is_not_written_t9(documents: Documents):
    """Hundreds of calls may come to it at once, and a document takes one write a second."""
    apps = Apps(documents)
    await apps.create(App(id=NOTES, owner=ANN, name="Notes", created_at=NOON))
    before = await documents.get(app_path(NOTES))

    await apps.update_app(NOTES, lambda app: replace(app, name="Notes"))

    assert await documents.get(app_path(NOTES)) == before


def build_call(minute: int, *, failed: bool = False) -> AppCall:
    at = NOON + timedelta(minutes=minute)
    return AppCall(id=f"c{minute}", at=at, kind="tool", name="t", ms=3, user="u", failed=failed)


async def test_consecutive_failures_start_after_the_last_success_t9(any_documents: Documents):
    log = CallLog(any_documents)
    for minute, failed in ((1, True), (2, False), (3, True), (4, True), (5, True)):
        await log.add(NOTES, build_call(minute, failed=failed))
        await log.add(AppId("OTHER"), build_call(minute))

    async def list_failure_ids(after: datetime, limit: int = 9) -> list[str]:
        failures = await log.list_consecutive_failures(NOTES, after=after, limit=limit)
        return [call.id for call in failures]

    assert await list_failure_ids(NOON) == ["c3", "c4", "c5"]
    assert await list_failure_ids(NOON, 2) == ["c3", "c4"]
    assert await list_failure_ids(NOON + timedelta(minutes=4)) == ["c5"]


async def test_a_success_counts_for_its_kind_and_after_its_time_t9(any_documents: Documents):
    log, call = CallLog(any_documents), build_call(1)
    await log.add(NOTES, replace(call, kind="webhook"))
    await log.add(NOTES, replace(build_call(2, failed=True), kind="webhook"))
    await log.add(NOTES, build_call(3))

    assert await log.has_success(NOTES, "webhook", after=NOON)
    assert not await log.has_success(NOTES, "webhook", after=call.at)
    assert not await log.has_success(NOTES, "mcp", after=NOON)


async def test_calls_are_listed_newest_first_up_to_the_limit_t20(any_documents: Documents):
    log = CallLog(any_documents)
    for minute in range(5):
        await log.add(NOTES, build_call(minute))

    newest = await log.list_newest(NOTES, since=NOON, limit=3)

    assert [call.id for call in newest] == ["c4", "c3", "c2"]
    assert newest[0] == build_call(4)


class OvertakenDocuments:
    """Documents in which another call begins the hour once this one has found that nobody had."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._other_calls = [build_call(1)]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._documents, name)

    async def write(self, *writes: Write) -> None:
        try:
            await self._documents.write(*writes)
        except PreconditionFailed:
            while self._other_calls:
                other = self._other_calls.pop()
                await AppCalls(self._documents).record_call(ANN, NOTES, other, NOON, is_first=True)
            raise


async def test_concurrent_calls_are_all_counted_first_of_the_hour_or_not_t9(
    any_documents: Documents,
):
    calls = AppCalls(any_documents)
    app_id = AppId("01ARZ3NDEKTSV4RRFFQ69G5FAV")  # begins with a digit, as ours do

    async def record_call(n: int) -> None:
        await calls.record_call(ANN, app_id, build_call(n), NOON, is_first=n % 2 == 0)

    async with anyio.create_task_group() as tasks:
        for n in range(6):
            tasks.start_soon(record_call, n)

    context = await calls.load_context(ANN, app_id, NOON)
    assert context.calls_this_hour == {app_id: 6}
    assert (context.app, context.installation) == (None, None)
    assert (
        len(
            await CallLog(any_documents).list_newest(
                app_id, since=NOON - timedelta(days=1), limit=9
            )
        )
        == 6
    )


async def test_a_call_is_counted_when_a_concurrent_call_creates_the_count_t9(
    documents: Documents,
):
    calls = AppCalls(OvertakenDocuments(documents))

    await calls.record_call(ANN, NOTES, build_call(2), NOON, is_first=False)

    assert (await AppCalls(documents).load_context(ANN, NOTES, NOON)).calls_this_hour == {NOTES: 2}


async def test_the_context_of_an_app_call_is_read_in_one_round_t9(documents: Documents):
    app = App(id=NOTES, owner=ANN, name="Notes", created_at=NOON)
    await Apps(documents).create(app)
    await InstalledApps(documents).add(ANN, build_installed_app(NOTES))
    counting_documents = CountingDocuments(documents)

    context = await AppCalls(counting_documents).load_context(ANN, NOTES, NOON)

    assert (context.app, context.calls_this_hour) == (replace(app, installs=1), {})
    assert context.installation is not None
    assert (counting_documents.rounds, counting_documents.documents) == (1, 4)
