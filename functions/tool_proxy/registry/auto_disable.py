"""When an app that does not work is no longer called, and how its developer hears of it."""

from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from functions.tool_proxy.deps import ToolProxyDeps
from shared.domain.app import App, Deactivation
from shared.domain.errors import AlreadyExists
from shared.domain.notification import Notification, NotificationId

MIN_FAILURES = 20
FAILURE_WINDOW = timedelta(hours=24)
_FAILING_REASON = (
    "Every call failed for a day, {failures} or more. Read the manifest again once it works:"
    " that switches the app on."
)
_UNDELIVERED_REASON = "Nothing arrived for a day. Save the app again once its webhook takes calls."
_GONE_REASON = "The webhook answered 410 Gone. Save the app again once it takes calls."


async def disable_if_failing(deps: ToolProxyDeps, app: App, now: datetime) -> None:
    """Switch off an app that has done nothing but fail for so long, FAILURES times at least."""
    verified_at = _get_verified_at(app)
    failures = await deps.stores.call_log.list_consecutive_failures(
        app.id, after=verified_at, limit=MIN_FAILURES
    )
    if len(failures) < MIN_FAILURES or now - failures[0].at < FAILURE_WINDOW:
        return
    verdict = Deactivation(at=now, reason=_FAILING_REASON.format(failures=MIN_FAILURES))
    await notify_developer(deps, app, verdict)
    await deps.stores.apps.revise(app.id, lambda current: _mark_disabled(current, app, verdict))


async def disable_webhook_if_failing(deps: ToolProxyDeps, app: App) -> None:
    """Switch off a webhook at which nothing arrived for so long, when a delivery was given up."""
    window_start = deps.clock.now() - FAILURE_WINDOW
    is_new = _get_verified_at(app) > window_start
    if is_new or await deps.stores.call_log.has_arrived(app.id, "webhook", after=window_start):
        return
    await _disable_webhook(deps, app, _UNDELIVERED_REASON)


async def disable_gone_webhook(deps: ToolProxyDeps, app: App) -> None:
    """Tell an app no more that wants to hear no more; a change of the app switches it on again."""
    await _disable_webhook(deps, app, _GONE_REASON)


async def _disable_webhook(deps: ToolProxyDeps, app: App, reason: str) -> None:
    verdict = Deactivation(at=deps.clock.now(), reason=reason)
    await notify_developer(deps, app, verdict, part="webhook")
    await deps.stores.apps.revise(
        app.id, lambda current: _mark_webhook_disabled(current, app, verdict)
    )


def _get_verified_at(app: App) -> datetime:
    return app.checked_at or app.created_at


def _mark_disabled(current: App, checked_app: App, verdict: Deactivation) -> App:
    """What its developer did since the verdict was thought of counts more."""
    if current.switched_off or current.checked_at != checked_app.checked_at:
        return current
    return replace(current, switched_off=verdict)


def _mark_webhook_disabled(current: App, checked_app: App, verdict: Deactivation) -> App:
    if current.webhook_off or current.checked_at != checked_app.checked_at:
        return current
    return replace(current, webhook_off=verdict)


async def notify_developer(
    deps: ToolProxyDeps, app: App, verdict: Deactivation, *, part: str = ""
) -> None:
    """Tell it once, whoever else comes to the same verdict: before it holds, so that it is told.

    `what` of the app is switched off, if not the whole.
    """
    verified_at = _get_verified_at(app)
    notice = Notification(
        id=NotificationId(f"off-{part}{app.id}-{verified_at:%Y%m%d%H%M%S}"),
        app_id=app.id,
        title=f"{app.name}: {part} was switched off" if part else f"{app.name} was switched off",
        body=verdict.reason,
        created_at=verdict.at,
        delivered_at=verdict.at,
    )
    with suppress(AlreadyExists):
        await deps.stores.inbox.add(app.owner, notice)
    ids = {"uid": app.owner, "id": notice.id}
    await deps.tasks.create("deliver_notification", f"notification-{notice.id}", ids)
