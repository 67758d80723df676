"""The routes of notifications and their handlers: parse, one call, answer."""

from typing import Any

from starlette.responses import JSONResponse, Response

from functions.notifications.deliver import deliver
from functions.notifications.digest import deliver_digest
from functions.notifications.notify import PER_HOUR, Posted, accepted, notify
from functions.notifications.wire import (
    DeliverDigestRequest,
    DeliverRequest,
    Done,
    InboxItem,
    InboxPage,
    InboxQuery,
    NotificationQuery,
    NotificationRequest,
    PreferencesChange,
    PreferencesOut,
    Receipt,
    ReceiptQuery,
)
from functions.notifications.wiring import NotificationsDeps
from shared import telemetry
from shared.data.app_access import calling_app
from shared.domain.errors import NotFound, TooMany
from shared.domain.ids import AppId, UserId
from shared.domain.notification import NotificationId
from shared.domain.operation import Operation
from shared.domain.text import visible
from shared.edge.allowances import headers, over_limit
from shared.edge.http import Call, Endpoint
from shared.edge.idempotency import KeyHeader, once
from shared.edge.problems import problem

NOT_INSTALLED = "User does not have this app installed"
REFUSALS = (400, 401, 403, 404, 409, 413, 422, 429)


async def post_notification(deps: NotificationsDeps, call: Call[NotificationRequest]) -> Response:
    return await _post(deps, call, aid=call.body.aid, said=call.body)


async def post_app_notification(deps: NotificationsDeps, call: Call[None]) -> Response:
    """Only push: whatever the app's manifest says, nothing is written into the chat."""
    return await _post(deps, call, aid=call.path["app_id"], said=call.query, chat_allowed=False)


async def _post(
    deps: NotificationsDeps,
    call: Call[Any],
    *,
    aid: str | None,
    said: NotificationRequest | NotificationQuery,
    chat_allowed: bool = True,
) -> Response:
    if not aid:
        return problem(400, "aid (app id) in request body is required")
    if not said.uid:
        return problem(400, "uid is required")
    if not said.message or not visible(said.message).strip():
        return problem(400, "message is required")
    uid = UserId(said.uid)
    key = call.headers.get("authorization")
    app, _ = await calling_app(deps, AppId(aid), uid, key, not_installed=NOT_INSTALLED)
    text = accepted(said.message)

    async def work(operation: Operation) -> Response:
        posted = Posted(
            id=NotificationId(operation.name),
            at=operation.begun_at,
            uid=uid,
            app=app,
            text=text,
            chat_allowed=chat_allowed,
        )
        limit = headers(await notify(deps, posted))
        return JSONResponse({"status": "Ok"}, headers={**limit, "X-Notification-Id": posted.id})

    try:
        return await once(deps, call, uid=uid, caller=app.id, work=work)
    except TooMany as refused:
        return over_limit(refused, limit=PER_HOUR)


async def get_receipt(deps: NotificationsDeps, call: Call[None]) -> Response | Receipt:
    query: ReceiptQuery = call.query
    if not query.aid:
        return problem(400, "aid (app id) is required")
    if not query.uid:
        return problem(400, "uid is required")
    uid = UserId(query.uid)
    key = call.headers.get("authorization")
    app, _ = await calling_app(deps, AppId(query.aid), uid, key, not_installed=NOT_INSTALLED)
    notification = await deps.inbox.get(uid, NotificationId(call.path["id"]))
    if notification is None or notification.app_id != app.id:
        raise NotFound("Notification not found")
    return Receipt.of(notification)


async def list_inbox(deps: NotificationsDeps, call: Call[None]) -> InboxPage:
    found = await deps.inbox.delivered(call.uid, limit=call.query.limit, after=call.query.cursor)
    items = [InboxItem.model_validate(n, from_attributes=True) for n in found.items]
    return InboxPage(items=items, next_cursor=found.next)


async def mark_read(deps: NotificationsDeps, call: Call[None]) -> Done:
    await deps.inbox.mark_read(call.uid, NotificationId(call.path["id"]), deps.clock.now())
    return Done()


async def get_preferences(deps: NotificationsDeps, call: Call[None]) -> PreferencesOut:
    profile = await deps.profiles.get(call.uid)
    return PreferencesOut.of(profile.notifications)


async def change_preferences(
    deps: NotificationsDeps, call: Call[PreferencesChange]
) -> PreferencesOut:
    return PreferencesOut.of(await deps.profiles.prefer(call.uid, **call.body.changes()))


async def deliver_notification(deps: NotificationsDeps, call: Call[DeliverRequest]) -> Done:
    telemetry.note(uid=telemetry.opaque(call.body.uid))
    await deliver(deps, call.body.uid, call.body.id)
    return Done()


async def deliver_held(deps: NotificationsDeps, call: Call[DeliverDigestRequest]) -> Done:
    telemetry.note(uid=telemetry.opaque(call.body.uid))
    await deliver_digest(deps, call.body.uid, call.body.id)
    return Done()


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/v1/integrations/notification",
        handler=post_notification,
        summary="Notify a user who installed the app; 10 an hour",
        access="anyone",
        headers=KeyHeader,
        body=NotificationRequest,
        response=Done,
        errors=REFUSALS,
    ),
    Endpoint(
        method="POST",
        path="/v2/integrations/{app_id}/notification",
        handler=post_app_notification,
        summary="Notify a user without writing into the chat; 10 an hour",
        access="anyone",
        headers=KeyHeader,
        query=NotificationQuery,
        response=Done,
        errors=REFUSALS,
    ),
    Endpoint(
        method="GET",
        path="/v1/integrations/notification/{id}",
        handler=get_receipt,
        summary="Tell the app that posted a notification what became of it",
        access="anyone",
        query=ReceiptQuery,
        response=Receipt,
        errors=(400, 401, 403, 404),
    ),
    Endpoint(
        method="GET",
        path="/v1/inbox",
        handler=list_inbox,
        summary="List the notifications that were delivered, newest first",
        query=InboxQuery,
        response=InboxPage,
    ),
    Endpoint(
        method="POST",
        path="/v1/inbox/{id}/read",
        handler=mark_read,
        summary="Mark a notification as read",
        response=Done,
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
        body=PreferencesChange,
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
        body=DeliverRequest,
        response=Done,
    ),
)

DIGEST_ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/",
        handler=deliver_held,
        summary="Deliver what quiet hours held back",
        access="service",
        body=DeliverDigestRequest,
        response=Done,
    ),
)
