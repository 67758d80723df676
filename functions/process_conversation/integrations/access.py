"""Which app calls, on behalf of whom, and whether it may do what it asks for."""

from datetime import datetime
from typing import Any, Literal

from functions.process_conversation.wiring import IntegrationDeps
from shared import telemetry
from shared.data.app_access import calling_app
from shared.domain.allowance import Allowance, allowed
from shared.domain.app import App
from shared.domain.errors import NotAllowed
from shared.domain.hours import hour_of
from shared.domain.ids import AppId
from shared.edge.http import Call

Action = Literal[
    "create_conversation", "create_facts", "read_memories", "read_conversations", "read_tasks"
]
_ABILITY: dict[Action, str] = {
    "create_conversation": "create conversations",
    "create_facts": "create memories",
    "read_memories": "read memories",
    "read_conversations": "read conversations",
    "read_tasks": "read tasks",
}
_OTHER_NAMES = {"create_memories": "create_facts"}
PER_HOUR = 60
"""Of each action, for one app and user."""


async def permitted(deps: IntegrationDeps, call: Call[Any], action: Action) -> App:
    """Return the app that calls, if it may do this.

    Raises NotAuthenticated, NotAllowed, NotFound: its key, whether the user installed it, and whether
    it declared the action.
    """
    telemetry.note(uid=telemetry.opaque(call.query.uid))
    app = await calling_app(
        deps,
        AppId(call.path["app_id"]),
        call.query.uid,
        call.headers.get("authorization"),
        not_installed="App is not enabled for this user",
    )
    if action not in _declared(app):
        raise NotAllowed(f"App does not have the capability to {_ABILITY[action]}")
    return app


def _declared(app: App) -> set[str]:
    names = {one.get("action", "") for one in app.external_integration.actions}
    return {_OTHER_NAMES.get(name, name) for name in names}


async def take_turn(
    deps: IntegrationDeps, call: Call[Any], action: Action, *, taker: str, at: datetime
) -> Allowance:
    """Count a request, once however often it is attempted by this `taker`. Raises TooMany."""
    left = await deps.limits.take(
        call.query.uid,
        f"{call.path['app_id']}-{action}",
        hour=hour_of(at),
        limit=PER_HOUR,
        taker=taker,
    )
    return allowed(left, limit=PER_HOUR, of="requests", now=deps.clock.now())
