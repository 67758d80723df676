"""Tool calls: check that a user may make a call and that its arguments fit, then send it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from functions.tool_proxy.call_quota import check_quota
from functions.tool_proxy.calls.outgoing import execute
from functions.tool_proxy.deps import CallDeps
from functions.tool_proxy.ports import OutgoingCall
from shared.data.apps.app_calls import AppCallContext
from shared.domain.apps.app import App, ChatTool, InstalledApp
from shared.domain.apps.tool_data import ToolData
from shared.domain.errors import ToolFailed, ToolRefused
from shared.domain.ids import AppId, UserId
from shared.models.absent_arguments import drop_absent
from shared.models.argument_check import require_fit
from shared.models.schemas import read_parameters
from shared.resilience.hour_windows import floor_to_hour
from shared.security.tool_pin import compute_pin


async def call_tool(
    deps: CallDeps,
    uid: UserId,
    app_id: AppId,
    name: str,
    arguments: Mapping[str, Any],
    *,
    pin: str,
    call_id: str | None = None,
) -> ToolData:
    """Return what the tool says. Raises ToolRefused and ToolFailed.

    The call is refused where the tool is not the version that `pin` names, which its user judged.

    A repeat with the same `call_id` reaches an app over HTTP under the same message id.
    """
    limiter = deps.app_limiters.get_limiter(app_id)
    with limiter.acquire_slot():
        now = deps.clock.now()
        app, installation, context = await _authorize_call(deps, uid, app_id, now)
        tool = _require_tool(app, name, pin)
        parameters = read_parameters(tool.parameters, given=tool.given_arguments)
        provided_arguments = drop_absent(arguments, parameters)
        await require_fit(name, parameters, provided_arguments)
        call = OutgoingCall(
            uid=uid,
            app=app,
            tool=tool,
            app_uid=installation.get_app_uid(uid),
            call_id=call_id or deps.new_id(),
            is_first=not context.calls_this_hour,
            place=context.place.find_shared_place(now),
        )
        send = deps.choose_transport(tool.transport).prepare(call, provided_arguments)
        return await execute(deps, limiter, call, send)


async def _authorize_call(
    deps: CallDeps, uid: UserId, app_id: AppId, now: datetime
) -> tuple[App, InstalledApp, AppCallContext]:
    """Return an app that is enabled and installed, its installation, and what else was read.

    Raises ToolRefused, and ToolFailed if the app is switched off or the user's quota is used up.
    """
    context = await deps.stores.app_calls.load_context(uid, app_id, floor_to_hour(now))
    app, installation = context.app, context.installation
    if app is None or installation is None or not app.is_visible_to(uid):
        raise ToolRefused("This app is not installed.")
    if app.switched_off:
        raise ToolFailed(
            f"{app.name} is switched off because its calls failed. Its developer was notified."
        )
    check_quota(app.id, app.name, context.calls_this_hour, now)
    return app, installation, context


def _require_tool(app: App, name: str, pin: str) -> ChatTool:
    for tool in app.chat_tools:
        if tool.name == name:
            if compute_pin(app, tool) != pin:
                raise ToolRefused(
                    f"{name!r} has just been changed by its maker: ask again in a minute."
                )
            return tool
    raise ToolRefused(f"The app {app.name!r} has no tool {name!r}.")
