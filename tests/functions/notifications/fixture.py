"""Notifications as the embedded world runs them, with a push that remembers."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from httpx import ASGITransport, AsyncClient, Response

from functions.notifications.deps import NotificationsDeps
from functions.notifications.routes import DELIVER_ROUTES, DIGEST_ROUTES, ROUTES
from shared.adapters.embedded.local_identity import LocalIdentity, LocalServiceIdentity
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.sqlite_queue import Job, SqliteQueue, SqliteTasks
from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.data.apps import hash_key
from shared.data.stores import Stores
from shared.domain.app import ApiKey, App, ExternalIntegration, InstalledApp
from shared.domain.chat import Message
from shared.domain.ids import AppId, SessionId, UserId
from shared.domain.profile import Device
from shared.edge.http import build_application
from shared.ports import Documents
from tests.fakes import CountingIds, FixedClock, RecordingPush

ALICE = UserId("alice")
WEATHER = AppId("weather")
KEY = "sk_0123456789abcdef0123456789abcdef"
NOW = datetime(2026, 3, 2, 12, 40, 0, tzinfo=UTC)
INDEXES = Path(__file__).parents[3] / "infra/firestore.indexes.json"
SECRET = b"a secret of the tests"
TARGETS = {"deliver_notification": DELIVER_ROUTES, "deliver_digest": DIGEST_ROUTES}


@dataclass
class NotificationsFixture:
    documents: Documents
    deps: NotificationsDeps
    push: RecordingPush
    clock: FixedClock
    queue: SqliteQueue

    async def register_app(
        self, app_id: AppId = WEATHER, *, name: str = "Weather", **integration: Any
    ) -> App:
        """Register an app, Weather unless named, with its key, and let Alice install it."""
        app = App(
            id=app_id,
            owner=UserId("dev"),
            name=name,
            created_at=NOW,
            private=False,
            external_integration=ExternalIntegration(**integration),
        )
        key = ApiKey(id="k1", hashed=hash_key(KEY), label="sk_0123...cdef", created_at=NOW)
        await self.deps.stores.apps.create(app)
        await self.deps.stores.apps.add_key(app_id, key)
        await self.deps.stores.installed_apps.add(
            ALICE, InstalledApp(app_id=app_id, installed_at=NOW)
        )
        return app

    async def post(
        self, *, key: str = KEY, idempotency_key: str | None = None, **changes: Any
    ) -> Response:
        """Post as Weather to Alice; what is None is left out."""
        body = {"aid": WEATHER, "uid": ALICE, "message": "Rain at five.", **changes}
        body = {name: value for name, value in body.items() if value is not None}
        headers = {"Authorization": f"Bearer {key}"}
        if idempotency_key:
            headers["Idempotency-Key"] = idempotency_key
        return await self.request(
            "POST", "/v1/integrations/notification", json=body, headers=headers
        )

    async def deliver(self) -> list[Response]:
        """Call the target of every task that is due; what fails comes again when time has passed."""
        jobs = await self.queue.claim(100)
        return [await self._attempt(job) for job in jobs]

    async def _attempt(self, job: Job) -> Response:
        response = await self.redeliver(job.body, job.target)
        acknowledgement = (
            self.queue.ack(job) if response.is_success else self.queue.retry(job, "failed")
        )
        await acknowledgement
        return response

    async def redeliver(
        self, body: Mapping[str, Any], target: str = "deliver_notification"
    ) -> Response:
        token = await self.deps.service_identity.get_token(target)
        app = build_application(target, TARGETS[target], self.deps)
        headers = {"Authorization": f"Bearer {token}"}
        async with AsyncClient(transport=ASGITransport(app), base_url="http://test") as client:
            return await client.post("/", json=body, headers=headers)

    async def add_devices(self, *tokens: str) -> None:
        for token in tokens:
            device = Device(id=f"ios_{token}", fcm_token=token, time_zone="UTC", updated_at=NOW)
            await self.deps.stores.devices.save(ALICE, device)

    async def change_preferences(self, **changes: Any) -> None:
        path, headers = "/v1/users/notification-preferences", build_auth_headers(ALICE)
        response = await self.request("PATCH", path, json=changes, headers=headers)
        assert response.status_code == 200, response.text

    async def mark_read(self, notification_id: str) -> Response:
        path = f"/v1/inbox/{notification_id}/read"
        return await self.request("POST", path, headers=build_auth_headers(ALICE))

    async def get_receipt(self, notification_id: str, **changes: str) -> Response:
        """Ask as Weather what became of it."""
        query = {"aid": WEATHER, "uid": ALICE, **changes}
        return await self.request(
            "GET",
            f"/v1/integrations/notification/{notification_id}",
            params={name: value for name, value in query.items() if name != "key" and value},
            headers={"Authorization": f"Bearer {changes.get('key', KEY)}"},
        )

    async def get_inbox(self, uid: str = ALICE, **query: Any) -> Any:
        response = await self.request(
            "GET", "/v1/inbox", params=query, headers=build_auth_headers(uid)
        )
        assert response.status_code == 200, response.text
        return response.json()

    async def list_chat_messages(self, session_id: str) -> list[Message]:
        return await self.deps.stores.messages.list_newest(ALICE, SessionId(session_id), limit=10)

    async def request(self, method: str, path: str, **request: Any) -> Response:
        app = build_application("notifications", ROUTES, self.deps)
        async with AsyncClient(transport=ASGITransport(app), base_url="http://test") as client:
            return await client.request(method, path, **request)


def build_auth_headers(uid: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {LocalIdentity(SECRET).issue(uid)}"}


def build_fixture(
    database: SqliteDatabase, documents: Any = None, *, clock: FixedClock | None = None
) -> NotificationsFixture:
    """Build the fixture on one file; `documents` may be another store."""
    documents = documents or SqliteDocuments(database, FirestoreIndexes.read(INDEXES))
    push, clock = RecordingPush(), clock or FixedClock(NOW)
    queue = SqliteQueue(database, clock)
    deps = NotificationsDeps(
        identity=LocalIdentity(SECRET),
        service_identity=LocalServiceIdentity(SECRET),
        clock=clock,
        new_id=CountingIds(),
        tasks=SqliteTasks(queue),
        push=push,
        stores=Stores(documents),
    )
    return NotificationsFixture(documents=documents, deps=deps, push=push, clock=clock, queue=queue)
