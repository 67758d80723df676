"""Routes of arcs: what the stretches of chats were about."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from pydantic import Field

from functions.chat.deps import ChatDeps
from functions.chat.sessions import chat_sessions
from functions.chat.stretches.schedule_stretch import schedule_stretch
from shared.domain.chats.arc import Arc
from shared.domain.ids import ArcId, SessionId
from shared.edge.declare.common_schemas import OkOut, PageQuery
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire


class ArcsQuery(PageQuery):
    limit: Annotated[int, Field(ge=1, le=100)] = 50


class ArcOut(Wire):
    """What a stretch of a chat was about; `ended_at` is the time of its last message."""

    id: str
    session_id: str
    started_at: datetime
    ended_at: datetime
    turn_count: int
    summary: str
    themes: Sequence[str]
    mood_opened: str
    mood_closed: str
    open_loops: Sequence[str]
    resolved_threads: Sequence[str]
    crisis_level_max: int


class ArcPageOut(Wire):
    items: Sequence[ArcOut]
    next: str | None


@route("GET", "/v2/arcs", "List what stretches of chats were about, newest first")
async def list_arcs(deps: ChatDeps, call: Call[None, ArcsQuery]) -> ArcPageOut:
    query = call.query
    page = await deps.stores.arcs.list_page(call.uid, limit=query.limit, after=query.cursor)
    return ArcPageOut(items=list(map(_to_out, page.items)), next=page.next)


@route("DELETE", "/v2/arcs/{id}", "Forget what a stretch was about; its chat stays", errors=(404,))
async def delete_arc(deps: ChatDeps, call: Call) -> OkOut:
    await deps.stores.arcs.forget(call.uid, ArcId(call.path["id"]))
    return OkOut()


@route(
    "POST",
    "/v2/chat-sessions/{id}/end",
    "End the stretch of a chat now, instead of after 20 minutes of silence",
    errors=(404,),
)
async def end_stretch_now(deps: ChatDeps, call: Call) -> OkOut:
    session = await chat_sessions.get_session(deps, call.uid, SessionId(call.path["id"]))
    if not session.is_private:
        await schedule_stretch(deps.tasks, call.uid, session.id, session.updated_at, now=True)
    return OkOut()


def _to_out(arc: Arc) -> ArcOut:
    fields = {name: getattr(arc, name) for name in ArcOut.model_fields if name != "ended_at"}
    return ArcOut(**fields, ended_at=arc.created_at)


ROUTES = (list_arcs, delete_arc, end_stretch_now)
