"""A call on its way to an app and back: let out, written down, and drawn conclusions from."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from functions.tool_proxy.deps import ToolProxyDeps
from functions.tool_proxy.registry.auto_disable import disable_if_failing
from shared import telemetry
from shared.domain.app import App, AppCall, ChatTool
from shared.domain.errors import (
    NotAllowed,
    TimedOut,
    TooLarge,
    ToolFailed,
    Unavailable,
    Unreadable,
)
from shared.domain.ids import UserId
from shared.domain.value import value
from shared.outbound.app_limiter import AppLimiter
from shared.resilience.best_effort import run_best_effort
from shared.resilience.hour_windows import floor_to_hour

TIMEOUT_S = 30


class CallFailed(ToolFailed):
    """A call that went out and did not work; `error` says how, to the app's developer.

    `is_down` says that the app did not do its part: no answer, or a status of 500 and more.
    """

    def __init__(
        self, message: str, *, error: str, is_down: bool = False, connect_url: str | None = None
    ) -> None:
        super().__init__(message, connect_url=connect_url)
        self.error = error
        self.is_down = is_down


_CALLER_LEFT = CallFailed("", error="broken off")
"""Who asked has left: that says nothing about the app."""


@value
class OutgoingCall:
    """Whose call it is, and to which tool of which app; `is_first` of the user's in this hour."""

    uid: UserId
    app: App
    tool: ChatTool
    is_first: bool = False


async def execute(
    deps: ToolProxyDeps, limiter: AppLimiter, call: OutgoingCall, send: Callable[[], Awaitable[str]]
) -> str:
    """Return what `send` returns and raise what it raises. Raises ToolFailed if it may not go."""
    started_at = deps.clock.now()
    limiter.admit(started_at)
    failure: CallFailed | None = _CALLER_LEFT
    try:
        text = await send()
        failure = None
    except CallFailed as error:
        failure = error
        raise
    finally:
        await run_best_effort(_record_call(deps, limiter, call, started_at, failure))
    return text


@contextmanager
def translate_egress_errors(name: str) -> Iterator[None]:
    """Say in words for the model what did not come back: raises CallFailed for what Egress raises."""
    try:
        yield
    except TimedOut as timeout:
        message = (
            f"Error: Timeout calling {name}."
            f" The app endpoint did not respond within {TIMEOUT_S} seconds."
        )
        raise CallFailed(message, error="timeout", is_down=True) from timeout
    except (NotAllowed, TooLarge, Unreadable) as refusal:
        message = f"Error calling {name}: {refusal}"
        raise CallFailed(message, error=str(refusal), is_down=True) from refusal
    except Unavailable as unavailable:
        message = f"Error: Could not connect to {name}. The app endpoint may be unreachable."
        raise CallFailed(message, error="unreachable", is_down=True) from unavailable


async def _record_call(
    deps: ToolProxyDeps,
    limiter: AppLimiter,
    call: OutgoingCall,
    started_at: datetime,
    failure: CallFailed | None,
) -> None:
    """Write down what became of a call, and draw conclusions."""
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
        user=telemetry.hash_id(f"{call.app.id}|{call.uid}"),
        failed=is_down,
        error=failure.error if failure else None,
    )
    await deps.stores.app_calls.record_call(
        call.uid, call.app.id, entry, floor_to_hour(started_at), is_first=call.is_first
    )
    if is_down and limiter.is_check_due(now):
        await disable_if_failing(deps, call.app, now)
