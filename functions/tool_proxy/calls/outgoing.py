"""A call on its way to an app and back: let out, written down, and drawn conclusions from."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from functions.tool_proxy.apps.verdict import judge
from functions.tool_proxy.calls.noted import noted
from functions.tool_proxy.calls.traffic import Lane
from functions.tool_proxy.wiring import ToolProxyDeps
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
from shared.domain.hours import hour_of
from shared.domain.ids import UserId
from shared.domain.value import value

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


_BROKEN_OFF = CallFailed("", error="broken off")
"""Who asked has left: that says nothing about the app."""


@value
class Outgoing:
    """Whose call it is, and to which tool of which app; `is_first` of the user's in this hour."""

    uid: UserId
    app: App
    tool: ChatTool
    is_first: bool = False


async def send_out(
    deps: ToolProxyDeps, lane: Lane, call: Outgoing, send: Callable[[], Awaitable[str]]
) -> str:
    """Return what `send` returns and raise what it raises. Raises ToolFailed if it may not go."""
    began = deps.clock.now()
    lane.let_out(began)
    failure: CallFailed | None = _BROKEN_OFF
    try:
        text = await send()
        failure = None
    except CallFailed as failed:
        failure = failed
        raise
    finally:
        await noted(_note(deps, lane, call, began, failure))
    return text


@contextmanager
def unanswered(name: str) -> Iterator[None]:
    """Say in words for the model what did not come back: raises CallFailed for what Egress raises."""
    try:
        yield
    except TimedOut as late:
        message = (
            f"Error: Timeout calling {name}."
            f" The app endpoint did not respond within {TIMEOUT_S} seconds."
        )
        raise CallFailed(message, error="timeout", is_down=True) from late
    except (NotAllowed, TooLarge, Unreadable) as refused:
        message = f"Error calling {name}: {refused}"
        raise CallFailed(message, error=str(refused), is_down=True) from refused
    except Unavailable as unreachable:
        message = f"Error: Could not connect to {name}. The app endpoint may be unreachable."
        raise CallFailed(message, error="unreachable", is_down=True) from unreachable


async def _note(
    deps: ToolProxyDeps, lane: Lane, call: Outgoing, began: datetime, failure: CallFailed | None
) -> None:
    """Write down what became of a call, and draw conclusions."""
    now = deps.clock.now()
    is_down = failure is not None and failure.is_down
    if failure is not _BROKEN_OFF:
        lane.heard(now, is_down=is_down)
    entry = AppCall(
        id=deps.new_id(),
        at=now,
        kind="mcp" if call.tool.transport == "mcp" else "tool",
        name=call.tool.name,
        ms=(now - began) // timedelta(milliseconds=1),
        user=telemetry.opaque(f"{call.app.id}|{call.uid}"),
        failed=is_down,
        error=failure.error if failure else None,
    )
    await deps.app_calls.note(call.uid, call.app.id, entry, hour_of(began), is_first=call.is_first)
    if is_down and lane.is_to_be_judged(now):
        await judge(deps, call.app, now)
