"""Details tool: the model asks its owner for memories or settings that it is not given, without waiting."""

from dataclasses import replace
from functools import partial
from typing import Annotated

from pydantic import Field

from functions.chat.deps import ChatDeps
from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.toolkit import OwnResult, ResultRenderer, Tool
from shared.arguments import Arguments
from shared.domain.account.profile import Profile
from shared.domain.account.requestable_details import list_requestable
from shared.domain.chats.built_in_names import BuiltInToolName
from shared.domain.chats.chat import Session
from shared.domain.chats.details_request import DetailKey, DetailsRequest, add_request
from shared.domain.errors import ToolRefused
from shared.domain.ids import UserId

REQUEST_DETAILS: BuiltInToolName = "request_details"
ASKED = (
    "The owner is asked, and may decide at any time, also days later. Go on with your answer without it; "
    "what they allow is given with a later message of this chat. Do not ask again."
)
SHOWN = "Asked you whether later answers in this chat may read more about you."


class RequestDetails(Arguments):
    """Ask the owner whether you may read memories or settings in this chat that you are not given.

    It waits for nothing: you answer without them now. Use it once, where later answers would clearly
    be better with them.
    """

    keys: Annotated[tuple[DetailKey, ...], Field(min_length=1, max_length=5)]


def build_details_tools(
    deps: ChatDeps, uid: UserId, session: Session, profile: Profile
) -> list[Tool]:
    """Return the tool where there is something to ask for; it names the keys. None in a private chat."""
    keys = list_requestable(profile, session.requests)
    if not keys or session.is_private:
        return []
    tool = build_builtin_tool(
        REQUEST_DETAILS,
        "Asking what it may read",
        RequestDetails,
        partial(_request_details, deps, uid, session, keys),
        tool_class="read",
    )
    description = f"{tool.spec.description}\nThere are: {', '.join(keys)}."
    return [replace(tool, spec=replace(tool.spec, description=description))]


async def _request_details(
    deps: ChatDeps, uid: UserId, session: Session, keys: list[DetailKey], arguments: RequestDetails
) -> ResultRenderer:
    """Keep the request. Raises ToolRefused for what cannot be asked for, or was already."""
    wanted = [key for key in arguments.keys if key in keys]
    if len(wanted) < len(arguments.keys):
        raise ToolRefused(f"you can ask for these alone: {', '.join(keys)}.")
    request = DetailsRequest(
        id=deps.new_id(),
        created_at=deps.clock.now(),
        states=dict.fromkeys(wanted, "pending"),
    )
    await deps.stores.sessions.change_requests(
        uid, session.id, partial(add_request, request=request)
    )
    return OwnResult(text=ASKED, shown_text=SHOWN)
