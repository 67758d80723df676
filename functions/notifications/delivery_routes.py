"""Internal routes by which tasks deliver notifications."""

from typing import Literal

from functions.notifications.deliver import deliver
from functions.notifications.deps import NotificationsDeps
from functions.notifications.digest import deliver_digest
from functions.notifications.task_reminders import deliver_task_reminder
from shared import telemetry
from shared.domain.account.notification import DigestId, NotificationId
from shared.domain.ids import ActionItemId, UserId
from shared.edge.declare.common_schemas import CapitalOkOut
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire
from shared.library.task_reminders import ReminderKind


class DeliverIn(Wire):
    """A stored notification to deliver, or a task of which phones are to remind."""

    uid: UserId
    id: str
    kind: Literal["notification"] | ReminderKind = "notification"


class DeliverDigestIn(Wire):
    """A digest of deferred notifications to deliver."""

    uid: UserId
    id: DigestId


@route("POST", "/", "Deliver one stored notification, or a task's reminder", access="service")
async def deliver_notification(deps: NotificationsDeps, call: Call[DeliverIn]) -> CapitalOkOut:
    telemetry.add_fields(uid=telemetry.hash_id(call.body.uid))
    body = call.body
    if body.kind == "notification":
        await deliver(deps, body.uid, NotificationId(body.id))
    else:
        await deliver_task_reminder(deps, body.uid, ActionItemId(body.id), body.kind)
    return CapitalOkOut()


@route("POST", "/", "Deliver what quiet hours held back", access="service")
async def deliver_deferred(deps: NotificationsDeps, call: Call[DeliverDigestIn]) -> CapitalOkOut:
    telemetry.add_fields(uid=telemetry.hash_id(call.body.uid))
    await deliver_digest(deps, call.body.uid, call.body.id)
    return CapitalOkOut()


DELIVER_ROUTES = (deliver_notification,)

DIGEST_ROUTES = (deliver_deferred,)
