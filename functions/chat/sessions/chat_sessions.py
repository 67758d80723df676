"""Chat sessions: find the one that a request names; create and change them.

Also called: chat threads.
"""

from asyncio import gather
from contextlib import suppress
from dataclasses import replace
from typing import Any

from functions.chat.deps import OpeningDeps
from functions.chat.runs.drop_messages import drop_messages
from functions.chat.runs.incognito_chats import is_idle
from functions.chat.sealed import cached_chats
from functions.chat.sessions.private_chats import check_companions
from shared.domain.apps.app import App
from shared.domain.chats.chat import Session, build_main_session_id, build_session
from shared.domain.chats.exercise import ActiveExercise
from shared.domain.chats.focus_mode import get_mode
from shared.domain.chats.storage_mode import (
    StorageMode,
    find_storage_mode,
    is_incognito,
    is_sealed,
    name_chat,
)
from shared.domain.errors import Invalid, NotFound
from shared.domain.ids import AgentId, AppId, ProjectId, SessionId, UserId
from shared.exercises import find_exercise
from shared.security.visible_text import strip_invisible

INCOGNITO_GONE = (
    "This incognito chat is gone: it ended after an hour of silence, or with its server."
)


async def resolve_session(
    deps: OpeningDeps, uid: UserId, app_id: AppId | None, session_id: SessionId | None = None
) -> Session:
    """Return the session of a request; the main one of an app need not be stored yet.

    Raises NotFound, also for the session of another user or of another app than `app_id`.
    """
    if session_id is not None and is_sealed(session_id):
        if app_id is not None:
            raise NotFound("Chat session not found")
        return await cached_chats.find_session(deps, uid, session_id)
    main_id = build_main_session_id(app_id)
    session = await deps.stores.sessions.get(uid, session_id or main_id)
    if session is None and session_id in (None, main_id):
        return build_session(main_id, app_id=app_id, now=deps.clock.now())
    if session is None or (app_id is not None and session.app_id != app_id):
        raise NotFound(_explain_missing(session_id))
    if session.is_incognito:
        await _use_incognito(deps, uid, session)
    return session


def _explain_missing(session_id: SessionId | None) -> str:
    is_gone = session_id is not None and is_incognito(session_id)
    return INCOGNITO_GONE if is_gone else "Chat session not found"


async def _use_incognito(deps: OpeningDeps, uid: UserId, session: Session) -> None:
    """Note the use of an incognito chat, and delete those that have to go. Raises NotFound."""
    now = deps.clock.now()
    for owner, session_id in deps.incognito_chats.use(uid, session.id, now):
        await drop_messages(deps.stores, owner, session_id)
    if is_idle(session.updated_at, now):
        await drop_messages(deps.stores, uid, session.id)
        raise NotFound(INCOGNITO_GONE)


def require_visible_app(app: App | None, uid: UserId) -> App:
    """Return an app that this user can see. Raises NotFound for any other."""
    if app is None or not app.is_visible_to(uid):
        raise NotFound("App not found")
    return app


async def create(
    deps: OpeningDeps,
    uid: UserId,
    title: str,
    app_id: AppId | None,
    *,
    agent_id: str | None = None,
    project_id: str | None = None,
    storage_mode: StorageMode = "managed",
    name: str | None = None,
) -> Session:
    """Create a chat beside the main one, or return the one of this `name`; nothing of one that is incognito is stored.

    Raises NotFound for an app this user cannot see and for an agent or a project they do not have,
    and Invalid for an app together with one of these, and for what this mode cannot take.
    """
    check_companions(
        storage_mode, {"title": title, "app": app_id, "agent": agent_id, "project": project_id}
    )
    if app_id is not None:
        require_visible_app(await deps.stores.apps.get(app_id), uid)
    session_id = SessionId(name_chat(name or deps.new_id(), storage_mode))
    if name is not None:
        with suppress(NotFound):
            return await get_session(deps, uid, session_id)
    session = build_session(
        session_id,
        app_id=app_id,
        now=deps.clock.now(),
        title=strip_invisible(title).strip(),
    )
    if agent_id is not None:
        session = replace(session, agent_id=await _require_agent(deps, uid, session, agent_id))
    if project_id is not None:
        project = await _require_project(deps, uid, session, project_id)
        session = replace(session, project_id=project)
    if session.is_sealed:
        await cached_chats.begin(deps, uid, session)
        return session
    await deps.stores.sessions.add(uid, session)
    if session.is_incognito:
        await _use_incognito(deps, uid, session)
    return session


async def _require_agent(
    deps: OpeningDeps, uid: UserId, session: Session, agent_id: str
) -> AgentId | None:
    """Return the agent that shall answer in a chat; None for an empty id."""
    if not agent_id:
        return None
    if session.app_id is not None:
        raise Invalid("This chat belongs to an app, so no agent can answer in it.")
    return (await deps.stores.custom_agents.get(uid, agent_id)).id


async def _require_project(
    deps: OpeningDeps, uid: UserId, session: Session, project_id: str
) -> ProjectId | None:
    """Return the project that a chat shall belong to; None for an empty id."""
    if not project_id:
        return None
    if session.app_id is not None:
        raise Invalid("This chat belongs to an app, so it cannot belong to a project.")
    return (await deps.stores.projects.get(uid, project_id)).id


async def get_session(deps: OpeningDeps, uid: UserId, session_id: SessionId) -> Session:
    """Raises NotFound."""
    if is_sealed(session_id):
        return await cached_chats.find_session(deps, uid, session_id)
    session = await deps.stores.sessions.get(uid, session_id)
    if session is None:
        raise NotFound(_explain_missing(session_id))
    return session


async def change(
    deps: OpeningDeps,
    uid: UserId,
    session_id: SessionId,
    *,
    title: str | None,
    starred: bool | None,
    agent_id: str | None = None,
    project_id: str | None = None,
) -> Session:
    """Rename or star a chat, or change its agent or project; None leaves a field as it is, "" ends it.

    Raises NotFound, and Invalid for an agent or a project in the chat of an app, and for what a private chat
    cannot take.
    """
    is_named, is_marked = title is not None, starred is not None
    check_companions(
        find_storage_mode(session_id),
        {"title": is_named, "star": is_marked, "agent": agent_id, "project": project_id},
    )
    requested_fields = {
        "title": None if title is None else strip_invisible(title).strip(),
        "starred": starred,
    }
    changes: dict[str, Any] = {
        name: value for name, value in requested_fields.items() if value is not None
    }
    if "title" in changes:
        changes["title_kinds"] = ()
    if agent_id is not None:
        session = await get_session(deps, uid, session_id)
        changes["agent_id"] = await _require_agent(deps, uid, session, agent_id)
    if project_id is not None:
        session = await get_session(deps, uid, session_id)
        changes["project_id"] = await _require_project(deps, uid, session, project_id)
    if changes:
        await deps.stores.sessions.change(uid, session_id, **changes)
    return await get_session(deps, uid, session_id)


async def set_focus(
    deps: OpeningDeps, uid: UserId, session_id: SessionId, mode_id: str | None
) -> Session:
    """Switch a focus mode on in a chat, or off. Raises NotFound for the chat and for the mode."""
    session, profile = await gather(
        resolve_session(deps, uid, None, session_id), deps.stores.profiles.get(uid)
    )
    mode = get_mode(profile.focus_modes, mode_id) if mode_id else None
    return await deps.stores.sessions.set_focus(uid, session, mode.id if mode else None)


async def set_exercise(
    deps: OpeningDeps, uid: UserId, session_id: SessionId, exercise_id: str | None
) -> Session:
    """Begin an exercise in a chat, or end the one that goes on. Raises NotFound for both."""
    if exercise_id is not None and find_exercise(exercise_id) is None:
        raise NotFound("Exercise not found")
    session = await resolve_session(deps, uid, None, session_id)
    active = ActiveExercise(id=exercise_id) if exercise_id else None
    return await deps.stores.sessions.change_exercise(uid, session, lambda _: active)
