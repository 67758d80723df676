"""Routes of receipts, the inbox and the preferences."""

from starlette.responses import Response

from functions.notifications.deps import NotificationsDeps
from functions.notifications.inbox_schemas import (
    InboxItemOut,
    InboxPageOut,
    InboxQuery,
    MentorSettings,
    PreferencesIn,
    PreferencesOut,
    ReceiptOut,
    ReceiptQuery,
    WebPushKeyOut,
)
from functions.notifications.post_routes import authenticate_caller
from shared.domain.account.notification import NotificationId
from shared.domain.errors import NotFound
from shared.edge.declare.common_schemas import CapitalOkOut
from shared.edge.declare.problems import build_problem
from shared.edge.declare.routes import Call, route


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
    caller = await authenticate_caller(deps, call, query.aid, query.uid)
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


ROUTES = (
    get_receipt,
    list_inbox,
    mark_read,
    get_preferences,
    change_preferences,
    get_web_push_key,
    get_mentor_settings,
    change_mentor_settings,
)
