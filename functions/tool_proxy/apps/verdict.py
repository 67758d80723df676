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


async def judge(deps: ToolProxyDeps, app: App, now: datetime) -> None:
    """Switch off an app that has done nothing but fail for so long, FAILURES times at least."""
    after = app.checked_at or app.created_at
    failures = await deps.calls.failures_in_a_row(app.id, after=after, limit=FAILURES)
    if len(failures) < FAILURES or now - failures[0].at < LASTING:
        return
    verdict = SwitchedOff(at=now, reason=_REASON.format(failures=FAILURES))
    await tell_developer(deps, app, verdict)
    await deps.apps.revise(app.id, lambda current: _switched_off(current, app, verdict))


def _switched_off(current: App, judged: App, verdict: SwitchedOff) -> App:
    """What its developer did since the verdict was thought of counts more."""
    if current.switched_off or current.checked_at != judged.checked_at:
        return current
    return replace(current, switched_off=verdict)


async def tell_developer(
    deps: ToolProxyDeps, app: App, verdict: SwitchedOff, *, what: str = ""
) -> None:
    """Tell it once, whoever else comes to the same verdict: before it holds, so that it is told.

    `what` of the app is switched off, if not the whole.
    """
    since = app.checked_at or app.created_at
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
