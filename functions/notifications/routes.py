"""The routes of notifications and their handlers: parse, one call, answer."""

from typing import Any

from starlette.responses import JSONResponse, Response

from functions.notifications.deliver import deliver
from functions.notifications.deps import NotificationsDeps
from functions.notifications.digest import deliver_digest
from functions.notifications.notify import MAX_PER_HOUR, PostedNotification, notify, validate_text
from functions.notifications.schemas import (
    DeliverDigestIn,
    DeliverIn,
    DoneOut,
    InboxItemOut,
    InboxPageOut,
    InboxQuery,
    NotificationIn,
    NotificationQuery,
    PreferencesIn,
    PreferencesOut,
    ReceiptOut,
    ReceiptQuery,
)
from shared import telemetry
from shared.data.app_access import authenticate_app
from shared.domain.errors import NotFound, TooMany
from shared.domain.ids import AppId, UserId
from shared.domain.notification import NotificationId
from shared.domain.operation import Operation
from shared.domain.text import strip_invisible
from shared.edge.http import Call, Endpoint
from shared.edge.idempotency import IdempotencyKeyHeader, run_idempotent
from shared.edge.problems import build_problem
from shared.edge.rate_limit_headers import build_rate_limit_headers, too_many_requests

NOT_INSTALLED = "User does not have this app installed"
ERROR_STATUSES = (400, 401, 403, 404, 409, 413, 422, 429)


async def post_notification(deps: NotificationsDeps, call: Call[NotificationIn]) -> Response:
    return await _post(deps, call, aid=call.body.aid, body=call.body)


async def post_app_notification(deps: NotificationsDeps, call: Call[None]) -> Response:
    """Only push: whatever the app's manifest says, nothing is written into the chat."""
    return await _post(deps, call, aid=call.path["app_id"], body=call.query, chat_allowed=False)


async def _post(
    deps: NotificationsDeps,
    call: Call[Any],
    *,
    aid: str | None,
    body: NotificationIn | NotificationQuery,
    chat_allowed: bool = True,
) -> Response:
    if not aid:
        return build_problem(400, "aid (app id) in request body is required")
    if not body.uid:
        return build_problem(400, "uid is required")
    if not body.message or not strip_invisible(body.message).strip():
        return build_problem(400, "message is required")
    uid = UserId(body.uid)
    key = call.headers.get("authorization")
    app, _ = await authenticate_app(
        deps.stores, AppId(aid), uid, key, not_installed_message=NOT_INSTALLED
    )
    text = validate_text(body.message)

    async def work(operation: Operation) -> Response:
        post = PostedNotification(
            id=NotificationId(operation.name),
            at=operation.begun_at,
            uid=uid,
            app=app,
            text=text,
            chat_allowed=chat_allowed,
        )
        limit_headers = build_rate_limit_headers(await notify(deps, post))
        return JSONResponse(
            {"status": "Ok"}, headers={**limit_headers, "X-Notification-Id": post.id}
        )

    try:
        return await run_idempotent(deps, call, uid=uid, caller=app.id, work=work)
    except TooMany as error:
        return too_many_requests(error, limit=MAX_PER_HOUR)


async def get_receipt(deps: NotificationsDeps, call: Call[None]) -> Response | ReceiptOut:
    query: ReceiptQuery = call.query
    if not query.aid:
        return build_problem(400, "aid (app id) is required")
    if not query.uid:
        return build_problem(400, "uid is required")
    uid = UserId(query.uid)
    key = call.headers.get("authorization")
    app, _ = await authenticate_app(
        deps.stores, AppId(query.aid), uid, key, not_installed_message=NOT_INSTALLED
    )
    notification = await deps.stores.inbox.get(uid, NotificationId(call.path["id"]))
    if notification is None or notification.app_id != app.id:
        raise NotFound("Notification not found")
    return ReceiptOut.of(notification)


async def list_inbox(deps: NotificationsDeps, call: Call[None]) -> InboxPageOut:
    page = await deps.stores.inbox.list_delivered(
        call.uid, limit=call.query.limit, after=call.query.cursor
    )
    items = [InboxItemOut.model_validate(n, from_attributes=True) for n in page.items]
    return InboxPageOut(items=items, next_cursor=page.next)


async def mark_read(deps: NotificationsDeps, call: Call[None]) -> DoneOut:
    await deps.stores.inbox.mark_read(call.uid, NotificationId(call.path["id"]), deps.clock.now())
    return DoneOut()


async def get_preferences(deps: NotificationsDeps, call: Call[None]) -> PreferencesOut:
    profile = await deps.stores.profiles.get(call.uid)
    return PreferencesOut.of(profile.notifications)


async def change_preferences(deps: NotificationsDeps, call: Call[PreferencesIn]) -> PreferencesOut:
    return PreferencesOut.of(
        await deps.stores.profiles.change_preferences(call.uid, **call.body.to_changes())
    )


async def deliver_notification(deps: NotificationsDeps, call: Call[DeliverIn]) -> DoneOut:
    telemetry.add_fields(uid=telemetry.hash_id(call.body.uid))
    await deliver(deps, call.body.uid, call.body.id)
    return DoneOut()


async def deliver_deferred(deps: NotificationsDeps, call: Call[DeliverDigestIn]) -> DoneOut:
    telemetry.add_fields(uid=telemetry.hash_id(call.body.uid))
    await deliver_digest(deps, call.body.uid, call.body.id)
    return DoneOut()


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/v1/integrations/notification",
        handler=post_notification,
        summary="Notify a user who installed the app; 10 an hour",
        access="anyone",
        headers=IdempotencyKeyHeader,
        body=NotificationIn,
        response=DoneOut,
        errors=ERROR_STATUSES,
    ),
    Endpoint(
        method="POST",
        path="/v2/integrations/{app_id}/notification",
        handler=post_app_notification,
        summary="Notify a user without writing into the chat; 10 an hour",
        access="anyone",
        headers=IdempotencyKeyHeader,
        query=NotificationQuery,
        response=DoneOut,
        errors=ERROR_STATUSES,
    ),
    Endpoint(
        method="GET",
        path="/v1/integrations/notification/{id}",
        handler=get_receipt,
        summary="Tell the app that posted a notification what became of it",
        access="anyone",
        query=ReceiptQuery,
        response=ReceiptOut,
        errors=(400, 401, 403, 404),
    ),
    Endpoint(
        method="GET",
        path="/v1/inbox",
        handler=list_inbox,
        summary="List the notifications that were delivered, newest first",
        query=InboxQuery,
        response=InboxPageOut,
    ),
    Endpoint(
        method="POST",
        path="/v1/inbox/{id}/read",
        handler=mark_read,
        summary="Mark a notification as read",
        response=DoneOut,
        errors=(404,),
    ),
    Endpoint(
        method="GET",
        path="/v1/users/notification-preferences",
        handler=get_preferences,
        summary="Read what the user wants to hear of apps",
        response=PreferencesOut,
    ),
    Endpoint(
        method="PATCH",
        path="/v1/users/notification-preferences",
        handler=change_preferences,
        summary="Change what the user wants to hear of apps; what is left out stays",
        body=PreferencesIn,
        response=PreferencesOut,
    ),
)

DELIVER_ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/",
        handler=deliver_notification,
        summary="Deliver one stored notification",
        access="service",
        body=DeliverIn,
        response=DoneOut,
    ),
)

DIGEST_ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/",
        handler=deliver_deferred,
        summary="Deliver what quiet hours held back",
        access="service",
        body=DeliverDigestIn,
        response=DoneOut,
    ),
)
