"""Routes by which apps notify their users: every instance imports them at its start."""

from typing import Any

from starlette.responses import JSONResponse, Response

from functions.notifications.deps import NotificationsDeps
from shared.data.app_access import AppCaller, authenticate_app, parse_api_key
from shared.domain.account.notification import NotificationId
from shared.domain.errors import TooMany
from shared.domain.ids import AppId
from shared.domain.store.operation import Operation
from shared.edge.declare.common_schemas import CapitalOkOut
from shared.edge.declare.idempotency import IdempotencyKeyHeader, run_idempotent
from shared.edge.declare.problems import build_problem
from shared.edge.declare.rate_limit_headers import build_rate_limit_headers, too_many_requests
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire
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


class NotificationIn(Wire):
    """An app's message to a user. All three are required; the first that is missing is named."""

    aid: str | None = None
    uid: str | None = None
    message: str | None = None


class AppNotificationIn(Wire):
    """An app's message to a user; the path names the app."""

    uid: str | None = None
    message: str | None = None


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
    caller = await authenticate_caller(deps, call, aid, body.uid)
    text = validate_text(body.message)
    return await _notify_once(deps, call, caller, text, chat=chat)


async def authenticate_caller(
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


ROUTES = (post_notification, post_app_notification)
