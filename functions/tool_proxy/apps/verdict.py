"""When an app that does not work is no longer called, and how its developer hears of it."""

from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from functions.tool_proxy.wiring import ToolProxyDeps
from shared.domain.app import App, SwitchedOff
from shared.domain.errors import AlreadyExists
from shared.domain.notification import Notification, NotificationId

FAILURES = 20
LASTING = timedelta(hours=24)
_REASON = (
    "Every call failed for a day, {failures} or more. Read the manifest again once it works:"
    " that switches the app on."
)
_UNHEARD = "Nothing arrived for a day. Save the app again once its webhook takes calls."
_GONE = "The webhook answered 410 Gone. Save the app again once it takes calls."


async def judge(deps: ToolProxyDeps, app: App, now: datetime) -> None:
    """Switch off an app that has done nothing but fail for so long, FAILURES times at least."""
    after = _in_order_since(app)
    failures = await deps.calls.failures_in_a_row(app.id, after=after, limit=FAILURES)
    if len(failures) < FAILURES or now - failures[0].at < LASTING:
        return
    verdict = SwitchedOff(at=now, reason=_REASON.format(failures=FAILURES))
    await tell_developer(deps, app, verdict)
    await deps.apps.revise(app.id, lambda current: _switched_off(current, app, verdict))


async def judge_webhook(deps: ToolProxyDeps, app: App) -> None:
    """Switch off a webhook at which nothing arrived for so long, when a delivery was given up."""
    began = deps.clock.now() - LASTING
    is_new = _in_order_since(app) > began
    if is_new or await deps.calls.has_arrived(app.id, "webhook", after=began):
        return
    await _switch_webhook_off(deps, app, _UNHEARD)


async def webhook_gone(deps: ToolProxyDeps, app: App) -> None:
    """Tell an app no more that wants to hear no more; a change of the app switches it on again."""
    await _switch_webhook_off(deps, app, _GONE)


async def _switch_webhook_off(deps: ToolProxyDeps, app: App, reason: str) -> None:
    verdict = SwitchedOff(at=deps.clock.now(), reason=reason)
    await tell_developer(deps, app, verdict, what="webhook")
    await deps.apps.revise(app.id, lambda current: _webhook_off(current, app, verdict))


def _in_order_since(app: App) -> datetime:
    return app.checked_at or app.created_at


def _switched_off(current: App, judged: App, verdict: SwitchedOff) -> App:
    """What its developer did since the verdict was thought of counts more."""
    if current.switched_off or current.checked_at != judged.checked_at:
        return current
    return replace(current, switched_off=verdict)


def _webhook_off(current: App, judged: App, verdict: SwitchedOff) -> App:
    if current.webhook_off or current.checked_at != judged.checked_at:
        return current
    return replace(current, webhook_off=verdict)


async def tell_developer(
    deps: ToolProxyDeps, app: App, verdict: SwitchedOff, *, what: str = ""
) -> None:
    """Tell it once, whoever else comes to the same verdict: before it holds, so that it is told.

    `what` of the app is switched off, if not the whole.
    """
    since = _in_order_since(app)
    notice = Notification(
        id=NotificationId(f"off-{what}{app.id}-{since:%Y%m%d%H%M%S}"),
        app_id=app.id,
        title=f"{app.name}: {what} was switched off" if what else f"{app.name} was switched off",
        body=verdict.reason,
        created_at=verdict.at,
        delivered_at=verdict.at,
    )
    with suppress(AlreadyExists):
        await deps.inbox.add(app.owner, notice)
    ids = {"uid": app.owner, "id": notice.id}
    await deps.tasks.create("deliver_notification", f"notification-{notice.id}", ids)
