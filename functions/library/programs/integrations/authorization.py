"""Authorization of apps: key, installation, declared action, and requests an hour."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any

from functions.library.deps import AppRequestDeps
from functions.library.programs.integrations.integration_schemas import OwnerQuery
from shared import telemetry
from shared.data.app_access import authenticate_app
from shared.domain.apps.app import App, Permission
from shared.domain.errors import NotAllowed
from shared.domain.ids import AppId, UserId
from shared.domain.value import value
from shared.edge.declare.routes import Call
from shared.library.deps import IntegrationDeps
from shared.resilience.hour_windows import floor_to_hour
from shared.resilience.rate_limit_status import RateLimitStatus, check_limit

_ACTION_NAMES: dict[Permission, str] = {
    "create_conversation": "create conversations",
    "create_facts": "create memories",
    "read_memories": "read memories",
    "read_conversations": "read conversations",
    "read_tasks": "read tasks",
}
MAX_REQUESTS_PER_HOUR = 60
"""Per action, app and user."""


@value
class AuthorizedApp:
    """An app that may do an action for a user; its requests are counted by action."""

    app: App
    uid: UserId
    action: Permission

    @property
    def id(self) -> str:
        return self.app.id


def authorize_app(
    action: Permission,
) -> Callable[[AppRequestDeps, Call[None, Mapping[str, str]]], Awaitable[AuthorizedApp]]:
    """Make the authorization of a route: it returns the calling app if it may do this."""

    async def authorize(deps: AppRequestDeps, call: Call[None, Mapping[str, str]]) -> AuthorizedApp:
        return await _authorize_app(deps, call, action)

    return authorize


async def _authorize_app(
    deps: AppRequestDeps, call: Call[None, Mapping[str, str]], action: Permission
) -> AuthorizedApp:
    """Return the calling app if it may do this, and the user for whom it calls.

    Raises NotAuthenticated without a key, NotFound for an unknown app, and NotAllowed if the key is
    wrong, the user did not install the app, or it had not declared the action by then.
    """
    caller = await authenticate_app(
        deps,
        AppId(call.path["app_id"]),
        call.query.get("uid", ""),
        call.headers.get("authorization"),
        not_installed_message="App is not enabled for this user",
    )
    telemetry.add_fields(uid=telemetry.hash_id(caller.uid))
    if action not in caller.app.external_integration.permissions:
        raise NotAllowed(f"App does not have the capability to {_ACTION_NAMES[action]}")
    if action not in caller.installation.get_permissions(caller.app, caller.uid):
        raise NotAllowed(f"App may not {_ACTION_NAMES[action]} until this user enables it again")
    return AuthorizedApp(app=caller.app, uid=caller.uid, action=action)


async def consume_quota(
    deps: IntegrationDeps,
    call: Call[Any, OwnerQuery, AuthorizedApp],
    *,
    consumer: str,
    at: datetime,
) -> RateLimitStatus:
    """Count a request, once for all attempts of one `consumer`. Raises TooMany."""
    remaining = await deps.stores.hourly_limits.consume(
        call.caller.uid,
        f"{call.path['app_id']}-{call.caller.action}",
        hour=floor_to_hour(at),
        limit=MAX_REQUESTS_PER_HOUR,
        consumer=consumer,
    )
    return check_limit(
        remaining, limit=MAX_REQUESTS_PER_HOUR, noun="requests", now=deps.clock.now()
    )
