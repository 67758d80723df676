"""Focus tool: switch one of the owner's focus modes on or off in the chat."""

import json
from dataclasses import replace
from functools import partial
from typing import Annotated

from pydantic import Field

from functions.chat.deps import ChatDeps
from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.toolkit import ResultRenderer, Tool, render_fixed
from shared.arguments import Arguments
from shared.domain.chats.chat import Session
from shared.domain.chats.focus_mode import MAX_NAME_CHARS, FocusMode, FocusModes, find_mode_by_name
from shared.domain.errors import ToolRefused
from shared.domain.ids import UserId


class SetFocusMode(Arguments):
    """Switch a focus mode of the owner on in this chat, or off, when the owner asks for it."""

    name: Annotated[
        str,
        Field(
            description="The name of the mode; empty to end the one that is on.",
            max_length=MAX_NAME_CHARS,
        ),
    ]


def build_focus_tools(
    deps: ChatDeps, uid: UserId, session: Session, modes: FocusModes
) -> list[Tool]:
    """Return the tool for an owner who has modes; it names them."""
    if not modes:
        return []
    tool = build_builtin_tool(
        "set_focus_mode",
        "Setting the focus",
        SetFocusMode,
        partial(_set_focus_mode, deps, uid, session, modes),
        tool_class="sensitive",
        check=partial(_find_mode, modes),
    )
    names = json.dumps([mode.name for mode in modes], ensure_ascii=False)
    description = f"{tool.spec.description}\nThe modes: {names}"
    return [replace(tool, spec=replace(tool.spec, description=description))]


async def _set_focus_mode(
    deps: ChatDeps, uid: UserId, session: Session, modes: FocusModes, arguments: SetFocusMode
) -> ResultRenderer:
    """Switch a mode for the next messages. Raises ToolRefused for a name that no mode has."""
    mode = _find_mode(modes, arguments)
    if mode is None:
        await deps.stores.sessions.set_focus(uid, session, None)
        return render_fixed("The focus ends with this answer.")
    await deps.stores.sessions.set_focus(uid, session, mode.id)
    return render_fixed(f"The focus “{mode.name}” is on from the next message.")


def _find_mode(modes: FocusModes, arguments: SetFocusMode) -> FocusMode | None:
    """Return the mode of a name, None for no name. Raises ToolRefused for one that no mode has."""
    if not arguments.name.strip():
        return None
    mode = find_mode_by_name(modes, arguments.name)
    if mode is None:
        names = ", ".join(mode.name for mode in modes)
        raise ToolRefused(f"there is no focus mode {arguments.name!r}. There are: {names}.")
    return mode
