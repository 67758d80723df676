"""Keeping of restored records: what an export holds beside conversations, each once and over nothing."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from functions.imports.formats.restored_records import build_record
from shared.domain.ids import UserId
from shared.library.deps import ImportDeps
from shared.library.own_names_schedule import schedule_marking
from shared.library.summary_schedule import schedule_recent_days


async def keep_restored_record(
    kind: str, deps: ImportDeps, uid: UserId, fields: Mapping[str, Any]
) -> None:
    """Store a record of an export. Raises ValueError and Invalid."""
    record = build_record(kind, fields, deps.clock.now())
    await _KEEPERS[kind](deps, uid, record)


async def _keep_settings(deps: ImportDeps, uid: UserId, settings: Mapping[str, Any]) -> None:
    """Take the settings that the owner has not chosen; conversations follow new names."""
    now = deps.clock.now()
    profile = await deps.stores.profiles.fill(uid, settings, now=now)
    if "own_names" in settings:
        await schedule_marking(deps.tasks, uid, profile)
    if "daily_summary" in settings:
        await schedule_recent_days(deps.tasks, uid, profile, now=now)


async def _keep_folders(deps: ImportDeps, uid: UserId, exported: Any) -> None:
    await deps.stores.folders.restore(uid, exported.folders, now=deps.clock.now())


async def _keep_goal(deps: ImportDeps, uid: UserId, goal: Any) -> None:
    await deps.stores.goals.restore(uid, goal)


async def _keep_summary(deps: ImportDeps, uid: UserId, summary: Any) -> None:
    await deps.stores.daily_summaries.restore(uid, summary)


async def _keep_session(deps: ImportDeps, uid: UserId, session: Any) -> None:
    await deps.stores.sessions.restore(uid, session)


async def _keep_message(deps: ImportDeps, uid: UserId, message: Any) -> None:
    await deps.stores.messages.restore(uid, message)


async def _keep_alternative(deps: ImportDeps, uid: UserId, message: Any) -> None:
    await deps.stores.alternatives.restore(uid, message)


async def _keep_agent(deps: ImportDeps, uid: UserId, agent: Any) -> None:
    await deps.stores.custom_agents.restore(uid, agent)


async def _keep_project(deps: ImportDeps, uid: UserId, project: Any) -> None:
    await deps.stores.projects.restore(uid, project)


async def _keep_health(deps: ImportDeps, uid: UserId, figures: Any) -> None:
    await deps.stores.health.restore_apple(uid, figures)


_KEEPERS: Mapping[str, Callable[[ImportDeps, UserId, Any], Awaitable[None]]] = {
    "settings": _keep_settings,
    "folders": _keep_folders,
    "goal": _keep_goal,
    "daily_summary": _keep_summary,
    "chat_session": _keep_session,
    "message": _keep_message,
    "alternative": _keep_alternative,
    "agent": _keep_agent,
    "project": _keep_project,
    "health": _keep_health,
}
