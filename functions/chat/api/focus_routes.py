"""Routes of focus modes: save them, and switch one on or off in a chat."""

from functools import partial
from typing import Annotated

from pydantic import Field

from functions.chat.api.prompt_texts import IN_ONE_LINE, NOT_EMPTY, WITH_LINE_BREAKS
from functions.chat.api.session_schemas import SessionOut, to_session_out
from functions.chat.deps import ChatDeps
from functions.chat.sessions import chat_sessions
from shared.domain.chats.focus_mode import (
    MAX_INSTRUCTIONS_CHARS,
    MAX_NAME_CHARS,
    FocusMode,
    add_mode,
    change_mode,
    find_mode_by_name,
    get_mode,
    remove_mode,
)
from shared.domain.ids import FocusModeId, SessionId
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import OPTIONAL_ID_PATTERN, Wire

FocusName = Annotated[str, Field(max_length=MAX_NAME_CHARS), IN_ONE_LINE, NOT_EMPTY]
FocusText = Annotated[str, Field(max_length=MAX_INSTRUCTIONS_CHARS), WITH_LINE_BREAKS, NOT_EMPTY]


class FocusModeIn(Wire):
    """A focus mode. One that says the same as another of the owner's is that one."""

    name: FocusName
    instructions: FocusText


class FocusModeChangeIn(Wire):
    """Omitted fields and nulls keep their value."""

    name: FocusName | None = None
    instructions: FocusText | None = None


class FocusModeOut(Wire):
    """A focus mode, whose instructions stand first in the prompt of chats in which it is active."""

    id: str
    name: str
    instructions: str


class FocusIn(Wire):
    """The focus mode to be active in a chat; null or an empty text for none."""

    focus_mode_id: Annotated[str | None, Field(pattern=OPTIONAL_ID_PATTERN)]


@route("GET", "/v1/focus-modes", "List focus modes, oldest first")
async def list_focus_modes(deps: ChatDeps, call: Call) -> list[FocusModeOut]:
    profile = await deps.stores.profiles.get(call.uid)
    return [FocusModeOut.model_validate(mode) for mode in profile.focus_modes]


@route("POST", "/v1/focus-modes", "Save a focus mode", errors=(409,))
async def add_focus_mode(deps: ChatDeps, call: Call[FocusModeIn]) -> FocusModeOut:
    mode = FocusMode(
        id=FocusModeId(deps.new_id()),
        name=call.body.name,
        instructions=call.body.instructions,
    )
    modes = await deps.stores.profiles.change_focus_modes(call.uid, partial(add_mode, mode=mode))
    return FocusModeOut.model_validate(find_mode_by_name(modes, mode.name))


@route("PATCH", "/v1/focus-modes/{id}", "Change a focus mode", errors=(404, 409))
async def change_focus_mode(deps: ChatDeps, call: Call[FocusModeChangeIn]) -> FocusModeOut:
    mode_id, body = call.path["id"], call.body
    change = partial(change_mode, mode_id=mode_id, name=body.name, instructions=body.instructions)
    modes = await deps.stores.profiles.change_focus_modes(call.uid, change)
    return FocusModeOut.model_validate(get_mode(modes, mode_id))


@route(
    "DELETE",
    "/v1/focus-modes/{id}",
    "Delete a focus mode; it ends where it is active",
    errors=(404,),
)
async def delete_focus_mode(deps: ChatDeps, call: Call) -> OkOut:
    remove = partial(remove_mode, mode_id=call.path["id"])
    await deps.stores.profiles.change_focus_modes(call.uid, remove)
    return OkOut()


@route(
    "PUT",
    "/v2/chat-sessions/{id}/focus",
    "Switch a focus mode on in a chat, or off, from the next message on",
    errors=(404,),
)
async def set_focus(deps: ChatDeps, call: Call[FocusIn]) -> SessionOut:
    session_id, mode_id = SessionId(call.path["id"]), call.body.focus_mode_id or None
    return to_session_out(await chat_sessions.set_focus(deps, call.uid, session_id, mode_id))


ROUTES = (
    list_focus_modes,
    add_focus_mode,
    change_focus_mode,
    delete_focus_mode,
    set_focus,
)
