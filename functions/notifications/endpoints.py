"""The routes of notifications and their handlers: parse, one call, answer."""

from starlette.responses import JSONResponse

from functions.notifications.deliver import deliver
from functions.notifications.limits import Allowance, headers
from functions.notifications.notify import Posted, notify
from functions.notifications.wire import (
    DeliverRequest,
    Done,
    InboxItem,
    InboxPage,
    InboxQuery,
    NotificationQuery,
    NotificationRequest,
)
from functions.notifications.wiring import NotificationsDeps
from shared import telemetry
from shared.domain.errors import TooMany
from shared.domain.ids import AppId, UserId
from shared.domain.notification import NotificationId
from shared.domain.text import visible
from shared.edge.http import Call, Endpoint
from shared.edge.problems import problem

QUOTA_EXCEEDED = "https://iana.org/assignments/http-problem-types#quota-exceeded"
REFUSALS = (400, 401, 403, 404, 413, 429)


async def post_notification(
    deps: NotificationsDeps, call: Call[NotificationRequest]
) -> JSONResponse:
    body = call.body
    return await _post(deps, call, aid=body.aid, uid=body.uid, message=body.message)


async def post_app_notification(deps: NotificationsDeps, call: Call[None]) -> JSONResponse:
    """Only push: whatever the app's manifest says, nothing is written into the chat."""
    query, aid = call.query, call.path["app_id"]
    return await _post(
        deps, call, aid=aid, uid=query.uid, message=query.message, chat_allowed=False
    )


async def _post(
    deps: NotificationsDeps,
    call: Call[NotificationRequest] | Call[None],
    *,
    aid: str | None,
    uid: str | None,
    message: str | None,
    chat_allowed: bool = True,
) -> JSONResponse:
    if not aid:
        return problem(400, "aid (app id) in request body is required")
    if not uid:
        return problem(400, "uid is required")
    if not message or not visible(message).strip():
        return problem(400, "message is required")
    posted = Posted(
        app_id=AppId(aid),
        uid=UserId(uid),
        message=message,
        authorization=call.headers.get("authorization"),
    )
    try:
        allowance = await notify(deps, posted, chat_allowed=chat_allowed)
    except TooMany as refused:
        return _over_limit(refused)
    return JSONResponse({"status": "Ok"}, headers=headers(allowance))


def _over_limit(refused: TooMany) -> JSONResponse:
    seconds = refused.retry_after_s
    limit = headers(Allowance(remaining=0, reset_s=seconds))
    more = {"type": QUOTA_EXCEEDED, "violated-policies": ["app"]}
    return problem(429, str(refused), headers={**limit, "Retry-After": str(seconds)}, **more)


async def list_inbox(deps: NotificationsDeps, call: Call[None]) -> InboxPage:
    found = await deps.inbox.delivered(call.uid, limit=call.query.limit, after=call.query.cursor)
    items = [InboxItem.model_validate(n, from_attributes=True) for n in found.items]
    return InboxPage(items=items, next_cursor=found.next)


async def mark_read(deps: NotificationsDeps, call: Call[None]) -> Done:
    await deps.inbox.mark_read(call.uid, NotificationId(call.path["id"]))
    return Done()


async def deliver_notification(deps: NotificationsDeps, call: Call[DeliverRequest]) -> Done:
    telemetry.note(uid=telemetry.opaque(call.body.uid))
    await deliver(deps, call.body.uid, call.body.id)
    return Done()


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/v1/integrations/notification",
        handler=post_notification,
        summary="Notify a user who installed the app; 10 an hour",
        access="anyone",
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
        query=NotificationQuery,
        response=Done,
        errors=REFUSALS,
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
