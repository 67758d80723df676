"""Routes of details requests: what the assistant asks its owner to read in a chat, and their decisions."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Annotated

from pydantic import Field

from functions.chat.consent.allowed_details import Details, load_details
from functions.chat.deps import ChatDeps
from functions.chat.sessions import chat_sessions
from shared.domain.chats.chat import Session
from shared.domain.chats.details_request import (
    Decision,
    DetailKey,
    DetailsRequest,
    RequestState,
    decide,
    list_accepted,
)
from shared.domain.ids import SessionId, UserId
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire


class DetailsResponseOut(Wire):
    """What was decided on a key; `content` is what answers read by it now, null unless it is accepted."""

    status: RequestState
    content: Sequence[str] | None


class DetailsRequestOut(Wire):
    """What the assistant asks to read in a chat: categories of memories, and settings."""

    request_id: str
    requested_keys: Sequence[DetailKey]
    responses: Mapping[DetailKey, DetailsResponseOut]
    created_at: datetime


class DetailsDecisionIn(Wire):
    """Decisions by key; what was accepted may be rejected later, what was rejected stays so."""

    responses: Annotated[Mapping[DetailKey, Decision], Field(min_length=1)]


@route(
    "GET",
    "/v2/chat-sessions/{id}/details-requests",
    "List what the assistant asks to read in a chat",
    errors=(404,),
)
async def list_requests(deps: ChatDeps, call: Call) -> list[DetailsRequestOut]:
    session = await chat_sessions.get_session(deps, call.uid, SessionId(call.path["id"]))
    details = await _load_details(deps, call.uid, session)
    return [_to_out(request, details) for request in session.requests]


@route(
    "POST",
    "/v2/chat-sessions/{id}/details-requests/{request_id}",
    "Allow or refuse what the assistant asks to read in a chat",
    errors=(404, 409),
)
async def decide_request(deps: ChatDeps, call: Call[DetailsDecisionIn]) -> DetailsRequestOut:
    request_id = call.path["request_id"]
    session = await deps.stores.sessions.change_requests(
        call.uid,
        SessionId(call.path["id"]),
        partial(decide, request_id=request_id, decisions=call.body.responses),
    )
    details = await _load_details(deps, call.uid, session)
    request = next(each for each in session.requests if each.id == request_id)
    return _to_out(request, details)


async def _load_details(deps: ChatDeps, uid: UserId, session: Session) -> Details:
    profile = await deps.stores.profiles.get(uid)
    accepted = list_accepted(session.requests)
    return await load_details(deps.stores.memories, uid, profile, accepted)


def _to_out(request: DetailsRequest, details: Details) -> DetailsRequestOut:
    return DetailsRequestOut(
        request_id=request.id,
        requested_keys=list(request.states),
        responses={
            key: DetailsResponseOut(
                status=state, content=details[key] if state == "accepted" else None
            )
            for key, state in request.states.items()
        },
        created_at=request.created_at,
    )


ROUTES = (list_requests, decide_request)
