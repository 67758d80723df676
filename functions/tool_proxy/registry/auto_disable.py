"""Automatic switch-off of apps and webhooks that only fail; their developers are notified.

Also called: kill switch.
"""

from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from functions.tool_proxy.deps import CallDeps
from shared.domain.account.notification import Notification, NotificationId
from shared.domain.apps.app import App, Deactivation
from shared.domain.errors import AlreadyExists

MIN_FAILURES = 20
FAILURE_WINDOW = timedelta(hours=24)
_FAILING_REASON = (
    "Every call failed for a day, {failures} or more. Read the manifest again once it works:"
    " that switches the app on."
)
_UNDELIVERED_REASON = "Nothing arrived for a day. Save the app again once its webhook takes calls."
_GONE_REASON = "The webhook answered 410 Gone. Save the app again once it takes calls."


async def disable_if_failing(deps: CallDeps, app: App, now: datetime) -> None:
    """Switch off an app that only failed for FAILURE_WINDOW, MIN_FAILURES times or more."""
    verified_at = _get_verified_at(app)
    failures = await deps.stores.call_log.list_consecutive_failures(
        app.id, after=verified_at, limit=MIN_FAILURES
    )
    if len(failures) < MIN_FAILURES or now - failures[0].at < FAILURE_WINDOW:
        return
    deactivation = Deactivation(at=now, reason=_FAILING_REASON.format(failures=MIN_FAILURES))
    await notify_developer(deps, app, deactivation)
    await deps.stores.apps.update_app(
        app.id, lambda current: _mark_disabled(current, app, deactivation)
    )


async def disable_webhook_if_failing(deps: CallDeps, app: App) -> None:
    """Switch off a webhook without a successful delivery for FAILURE_WINDOW.

    Call it when a delivery was given up.
    """
    window_start = deps.clock.now() - FAILURE_WINDOW
    is_new = _get_verified_at(app) > window_start
    if is_new or await deps.stores.call_log.has_success(app.id, "webhook", after=window_start):
        return
    await _disable_webhook(deps, app, _UNDELIVERED_REASON)


async def disable_gone_webhook(deps: CallDeps, app: App) -> None:
    """Switch off a webhook that answered 410 Gone, until its app is changed."""
    await _disable_webhook(deps, app, _GONE_REASON)


async def _disable_webhook(deps: CallDeps, app: App, reason: str) -> None:
    deactivation = Deactivation(at=deps.clock.now(), reason=reason)
    await notify_developer(deps, app, deactivation, part="webhook")
    await deps.stores.apps.update_app(
        app.id, lambda current: _mark_webhook_disabled(current, app, deactivation)
    )


def _get_verified_at(app: App) -> datetime:
    return app.checked_at or app.created_at


def _mark_disabled(current: App, checked_app: App, deactivation: Deactivation) -> App:
    """Switch off, unless the developer changed or refreshed the app meanwhile."""
    if current.switched_off or current.checked_at != checked_app.checked_at:
        return current
    return replace(current, switched_off=deactivation)


def _mark_webhook_disabled(current: App, checked_app: App, deactivation: Deactivation) -> App:
    if current.webhook_off or current.checked_at != checked_app.checked_at:
        return current
    return replace(current, webhook_off=deactivation)


async def notify_developer(
    deps: CallDeps, app: App, deactivation: Deactivation, *, part: str = ""
) -> None:
    """Notify the developer once, whichever instances decide the same.

    It comes before the app is switched off, so that a crash in between does not lose it. `part`
    names what is switched off, if it is not the whole app.
    """
    verified_at = _get_verified_at(app)
    notice = Notification(
        id=NotificationId(f"off-{part}{app.id}-{verified_at:%Y%m%d%H%M%S}"),
        app_id=app.id,
        title=f"{app.name}: {part} was switched off" if part else f"{app.name} was switched off",
        body=deactivation.reason,
        created_at=deactivation.at,
        delivered_at=deactivation.at,
    )
    with suppress(AlreadyExists):
        await deps.stores.inbox.add(app.owner, notice)
    ids = {"uid": app.owner, "id": notice.id}
    await deps.tasks.create("deliver_notification", f"notification-{notice.id}", ids)
