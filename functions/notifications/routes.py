"""Routes of notifications: post one, read its receipt, the inbox and the preferences."""

from typing import Any

from starlette.responses import JSONResponse, Response

from functions.notifications.deliver import deliver
from functions.notifications.deps import NotificationsDeps
from functions.notifications.digest import deliver_digest
from functions.notifications.schemas import (
    AppNotificationIn,
    DeliverDigestIn,
    DeliverIn,
    InboxItemOut,
    InboxPageOut,
    InboxQuery,
    MentorSettings,
    NotificationIn,
    PreferencesIn,
    PreferencesOut,
    ReceiptOut,
    ReceiptQuery,
    WebPushKeyOut,
)
from functions.notifications.task_reminders import deliver_task_reminder
from shared import telemetry
from shared.data.app_access import AppCaller, authenticate_app, parse_api_key
from shared.domain.errors import NotFound, TooMany
from shared.domain.ids import ActionItemId, AppId
from shared.domain.notification import NotificationId
from shared.domain.operation import Operation
from shared.edge.idempotency import IdempotencyKeyHeader, run_idempotent
from shared.edge.problems import build_problem
from shared.edge.rate_limit_headers import build_rate_limit_headers, too_many_requests
from shared.edge.routes import Call, route
from shared.edge.schemas import CapitalOkOut
from shared.library.notify import (
    MAX_PER_HOUR,
    ChatRule,
    PostedNotification,
    notify,
    validate_text,
)
from shared.security.visible_text import strip_invisible

NOT_INSTALLED = "User does not have this app installed"
ERROR_STATUSES = (400, 401, 403, 404, 409, 413, 422, 429)
MAX_BODY_BYTES = 65_536
"""Room for the longest message with every character escaped."""


async def _require_key(_: NotificationsDeps, call: Call[None, Any]) -> None:
    """Refuse a request without a key; whose key it is depends on the app that the body names."""
    parse_api_key(call.headers.get("authorization"))


@route(
    "POST",
    "/v1/integrations/notification",
    "Notify a user who installed the app; 10 an hour",
    access="anyone",
    authorize=_require_key,
    headers=IdempotencyKeyHeader,
    errors=ERROR_STATUSES,
    max_bytes=MAX_BODY_BYTES,
)
async def post_notification(
    deps: NotificationsDeps, call: Call[NotificationIn]
) -> CapitalOkOut | Response:
    return await _post(deps, call, aid=call.body.aid, body=call.body)


@route(
    "POST",
    "/v2/integrations/{app_id}/notification",
    "Notify a user without writing into the chat; 10 an hour",
    access="anyone",
    authorize=_require_key,
    is_query_accepted=True,
    headers=IdempotencyKeyHeader,
    errors=ERROR_STATUSES,
    max_bytes=MAX_BODY_BYTES,
)
async def post_app_notification(
    deps: NotificationsDeps, call: Call[AppNotificationIn]
) -> CapitalOkOut | Response:
    """Push only: nothing is written into the chat, whatever the app's manifest says."""
    return await _post(deps, call, aid=call.path["app_id"], body=call.body, chat="never")


async def _post(
    deps: NotificationsDeps,
    call: Call[Any, Any],
    *,
    aid: str | None,
    body: NotificationIn | AppNotificationIn,
    chat: ChatRule = "as_declared",
) -> Response:
    if not aid:
        return build_problem(400, "aid (app id) in request body is required")
    if not body.uid:
        return build_problem(400, "uid is required")
    if not body.message or not strip_invisible(body.message).strip():
        return build_problem(400, "message is required")
    caller = await _authenticate_app(deps, call, aid, body.uid)
    text = validate_text(body.message)
    return await _notify_once(deps, call, caller, text, chat=chat)


async def _authenticate_app(
    deps: NotificationsDeps, call: Call[Any, Any], aid: str, app_uid: str
) -> AppCaller:
    """Return the app whose key the request has. Raises NotAuthenticated, NotAllowed, NotFound."""
    key = call.headers.get("authorization")
    return await authenticate_app(
        deps, AppId(aid), app_uid, key, not_installed_message=NOT_INSTALLED
    )


async def _notify_once(
    deps: NotificationsDeps,
    call: Call[Any, Any],
    caller: AppCaller,
    text: str,
    *,
    chat: ChatRule,
) -> Response:
    """Notify the user, once per idempotency key; 429 when the hour's limit is used up."""

    async def work(operation: Operation) -> Response:
        post = PostedNotification(
            id=NotificationId(operation.name),
            at=operation.begun_at,
            uid=caller.uid,
            app=caller.app,
            text=text,
            chat=chat,
        )
        headers = build_rate_limit_headers(await notify(deps, post))
        return JSONResponse({"status": "Ok"}, headers={**headers, "X-Notification-Id": post.id})

    try:
        return await run_idempotent(deps, call, uid=caller.uid, caller=caller.app.id, work=work)
    except TooMany as error:
        return too_many_requests(error, limit=MAX_PER_HOUR)


@route(
    "GET",
    "/v1/integrations/notification/{id}",
    "Tell the app that posted a notification what became of it",
    access="anyone",
    errors=(400, 401, 403, 404),
)
async def get_receipt(
    deps: NotificationsDeps, call: Call[None, ReceiptQuery]
) -> ReceiptOut | Response:
    query = call.query
    if not query.aid:
        return build_problem(400, "aid (app id) is required")
    if not query.uid:
        return build_problem(400, "uid is required")
    caller = await _authenticate_app(deps, call, query.aid, query.uid)
    notification = await deps.stores.inbox.get(caller.uid, NotificationId(call.path["id"]))
    if notification is None or notification.app_id != caller.app.id:
        raise NotFound("Notification not found")
    return ReceiptOut.of(notification)


@route("GET", "/v1/inbox", "List the notifications that were delivered, newest first")
async def list_inbox(deps: NotificationsDeps, call: Call[None, InboxQuery]) -> InboxPageOut:
    page = await deps.stores.inbox.list_delivered(
        call.uid, limit=call.query.limit, after=call.query.cursor
    )
    items = [InboxItemOut.model_validate(n) for n in page.items]
    return InboxPageOut(items=items, next_cursor=page.next)


@route("POST", "/v1/inbox/{id}/read", "Mark a notification as read", errors=(404,))
async def mark_read(deps: NotificationsDeps, call: Call) -> CapitalOkOut:
    await deps.stores.inbox.mark_read(call.uid, NotificationId(call.path["id"]), deps.clock.now())
    return CapitalOkOut()


@route("GET", "/v1/users/notification-preferences", "Read what the user wants to hear of apps")
async def get_preferences(deps: NotificationsDeps, call: Call) -> PreferencesOut:
    profile = await deps.stores.profiles.get(call.uid)
    return PreferencesOut.model_validate(profile.notifications)


@route(
    "PATCH",
    "/v1/users/notification-preferences",
    "Change what the user wants to hear of apps; what is left out stays",
)
async def change_preferences(deps: NotificationsDeps, call: Call[PreferencesIn]) -> PreferencesOut:
    changes = call.body.to_changes()
    preferences = await deps.stores.profiles.change_preferences(call.uid, **changes)
    return PreferencesOut.model_validate(preferences)


@route("GET", "/v1/users/web-push-key", "Read the key with which a browser subscribes")
async def get_web_push_key(deps: NotificationsDeps, _: Call) -> WebPushKeyOut:
    return WebPushKeyOut(key=deps.read_web_push_key())


@route("GET", "/v1/users/mentor-notification-settings", "Read how often apps may push, 0 to 5")
async def get_mentor_settings(deps: NotificationsDeps, call: Call) -> MentorSettings:
    profile = await deps.stores.profiles.get(call.uid)
    return MentorSettings(frequency=profile.notifications.frequency)


@route("PATCH", "/v1/users/mentor-notification-settings", "Change how often apps may push")
async def change_mentor_settings(
    deps: NotificationsDeps, call: Call[MentorSettings]
) -> MentorSettings:
    preferences = await deps.stores.profiles.change_preferences(
        call.uid, frequency=call.body.frequency
    )
    return MentorSettings(frequency=preferences.frequency)


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


ROUTES = (
    post_notification,
    post_app_notification,
    get_receipt,
    list_inbox,
    mark_read,
    get_preferences,
    change_preferences,
    get_web_push_key,
    get_mentor_settings,
    change_mentor_settings,
)

DELIVER_ROUTES = (deliver_notification,)

DIGEST_ROUTES = (deliver_deferred,)
