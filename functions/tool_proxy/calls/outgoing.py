"""Outgoing calls: a call is admitted, sent, and recorded in the app's call log."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from functions.tool_proxy.app_limiter import AppLimiter
from functions.tool_proxy.calls.failures import CallFailed
from functions.tool_proxy.deps import CallDeps
from functions.tool_proxy.outbound_quota import count_call
from functions.tool_proxy.ports import OutgoingCall
from shared import telemetry
from shared.domain.apps.app import AppCall
from shared.domain.apps.tool_data import ToolData
from shared.resilience.best_effort import run_best_effort
from shared.resilience.hour_windows import floor_to_hour

_CALLER_LEFT = CallFailed("", error="broken off")
"""The caller has disconnected: that says nothing about the app."""


async def execute(
    deps: CallDeps,
    limiter: AppLimiter,
    call: OutgoingCall,
    send: Callable[[], Awaitable[ToolData]],
) -> ToolData:
    """Return what `send` returns and raise what it raises. Raises ToolFailed if not admitted."""
    started_at = deps.clock.now()
    limiter.admit(started_at)
    await count_call(deps, call.uid)
    failure: CallFailed | None = _CALLER_LEFT
    try:
        data = await send()
        failure = None
    except CallFailed as error:
        failure = error
        raise
    finally:
        await run_best_effort(_record_call(deps, limiter, call, started_at, failure))
    return data


async def _record_call(
    deps: CallDeps,
    limiter: AppLimiter,
    call: OutgoingCall,
    started_at: datetime,
    failure: CallFailed | None,
) -> None:
    """Record the result of a call; switch the app off if it does nothing but fail."""
    now = deps.clock.now()
    is_down = failure is not None and failure.is_down
    if failure is not _CALLER_LEFT:
        limiter.record_result(now, is_down=is_down)
    entry = AppCall(
        id=deps.new_id(),
        at=now,
        kind="mcp" if call.tool.transport == "mcp" else "tool",
        name=call.tool.name,
        ms=(now - started_at) // timedelta(milliseconds=1),
        user=telemetry.hash_id(f"{call.app.id}|{call.app_uid}"),
        failed=is_down,
        error=failure.error if failure else None,
    )
    await deps.stores.app_calls.record_call(
        call.uid, call.app.id, entry, floor_to_hour(started_at), is_first=call.is_first
    )
    if is_down and limiter.is_check_due(now):
        from functions.tool_proxy.registry.auto_disable import disable_if_failing

        await disable_if_failing(deps, call.app, now)
