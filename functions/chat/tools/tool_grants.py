"""Tool grants as their owner sees them: every tool that a chat may call, and what is allowed.

Also called: permissions, tool permissions.
"""

from asyncio import gather
from collections.abc import Iterator

from functions.chat.deps import ChatDeps
from functions.chat.tools.app_tools import build_tools
from functions.chat.tools.service_tools import build_service_tools
from functions.chat.tools.toolkit import Tool
from shared.domain.chats.confirmation import NO_ALWAYS
from shared.domain.chats.consent import Consent, Grant, GrantState
from shared.domain.errors import Conflict, NotFound
from shared.domain.ids import UserId
from shared.domain.value import value


@value
class ToolGrant:
    """A tool, the owner's decision about it, and the bits that its maker was told today unasked.

    `clean_bits_today` are those of clean turns.
    """

    tool: Tool
    state: GrantState
    bits_today: float
    clean_bits_today: float


async def list_grants(deps: ChatDeps, uid: UserId) -> list[ToolGrant]:
    """Return the tools of installed apps and connected services, those switched off as well."""
    consent, tools, day = await gather(
        deps.stores.grants.load(uid),
        _load_tools(deps, uid),
        deps.stores.disclosure_ledger.load_day(uid, deps.clock.now().date()),
    )
    return [
        ToolGrant(
            tool=tool,
            state=_get_state(consent, tool),
            bits_today=day.bits.get(tool.maker, 0.0),
            clean_bits_today=day.clean_bits.get(tool.maker, 0.0),
        )
        for tool in tools
    ]


async def set_grant(
    deps: ChatDeps,
    uid: UserId,
    source_key: str,
    name: str,
    state: GrantState,
    *,
    seen_pin: str | None = None,
) -> None:
    """Store a decision about a tool as it is now, or as `seen_pin` names it.

    Raises NotFound, and Conflict where the tool is another version or cannot be allowed for always.
    """
    for tool in await _load_tools(deps, uid):
        if (tool.source.key, tool.name) == (source_key, name):
            if seen_pin not in (None, tool.pin):
                raise Conflict("The app has changed this tool meanwhile. Please look at it again.")
            if state == "always" and not tool.allows_always:
                raise Conflict(NO_ALWAYS)
            grant = Grant(pin=tool.pin, state=state)
            await deps.stores.grants.set_grant(uid, tool.source, name, grant)
            return
    raise NotFound("Tool not found")


async def _load_tools(deps: ChatDeps, uid: UserId) -> list[Tool]:
    installed_apps, connections, consent = await gather(
        deps.stores.installed_apps.list_all(uid),
        deps.stores.connections.list_all(uid),
        deps.stores.grants.load(uid),
    )
    apps = await deps.offered_apps.get_many([installed.app_id for installed in installed_apps])
    shown = Consent(grants=dict(_without_off(consent)))
    return [
        *build_service_tools(deps, uid, connections, shown),
        *build_tools(deps.toolbox, uid, apps, shown),
    ]


def _without_off(consent: Consent) -> Iterator[tuple[str, dict[str, Grant]]]:
    """Yield grants in which tools that are switched off are offered again, to be listed."""
    for key, grants in consent.grants.items():
        yield (
            key,
            {name: Grant(pin=g.pin) if g.state == "off" else g for name, g in grants.items()},
        )


def _get_state(consent: Consent, tool: Tool) -> GrantState:
    grant = consent.find_grant(tool.source, tool.name)
    if grant is None or (grant.state == "always" and not tool.always_allowed):
        return "default"
    return grant.state
