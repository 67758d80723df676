"""Which app calls, on behalf of whom, and whether it may do what it asks for."""

from datetime import datetime
from typing import Any

from functions.process_conversation.wiring import IntegrationDeps
from shared import telemetry
from shared.data.app_access import calling_app
from shared.domain.allowance import Allowance, allowed
from shared.domain.app import App, Permission
from shared.domain.errors import NotAllowed
from shared.domain.hours import hour_of
from shared.domain.ids import AppId
from shared.edge.http import Call

_ABILITY: dict[Permission, str] = {
    "create_conversation": "create conversations",
    "create_facts": "create memories",
    "read_memories": "read memories",
    "read_conversations": "read conversations",
    "read_tasks": "read tasks",
}
PER_HOUR = 60
"""Of each action, for one app and user."""


async def permitted(deps: IntegrationDeps, call: Call[Any], action: Permission) -> App:
    """Return the app that calls, if it may do this.

    Raises NotAuthenticated, NotAllowed, NotFound: its key, whether the user installed it, whether it
    declared the action, and whether it had when the user installed it.
    """
    telemetry.note(uid=telemetry.opaque(call.query.uid))
    app, installed = await calling_app(
        deps,
        AppId(call.path["app_id"]),
        call.query.uid,
        call.headers.get("authorization"),
        not_installed="App is not enabled for this user",
    )
    if action not in app.external_integration.permissions:
        raise NotAllowed(f"App does not have the capability to {_ABILITY[action]}")
    if action not in installed.permissions(app, call.query.uid):
        raise NotAllowed(f"App may not {_ABILITY[action]} before this user enables it once more")
    return app


async def take_turn(
    deps: IntegrationDeps, call: Call[Any], action: Permission, *, taker: str, at: datetime
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
