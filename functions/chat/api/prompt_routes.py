"""Routes of the owner's chat prompt: how the assistant shall answer, in their words."""

from typing import Annotated

from pydantic import Field

from functions.chat.api.prompt_texts import WITH_LINE_BREAKS
from functions.chat.deps import ChatDeps
from shared.domain.account.profile import MAX_PROMPT_CHARS, MAX_REMINDER_CHARS, Profile
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire


class ChatPromptIn(Wire):
    """How the assistant shall answer, and what it is reminded of last, before each answer."""

    prompt: Annotated[str, Field(max_length=MAX_PROMPT_CHARS), WITH_LINE_BREAKS]
    reminder: Annotated[str, Field(max_length=MAX_REMINDER_CHARS), WITH_LINE_BREAKS] = ""


class ChatPromptOut(Wire):
    """The texts as the model reads them, behind our fixed rules; empty without any."""

    prompt: str
    reminder: str
    is_default: bool


@route("GET", "/v1/users/chat-prompt", "Read how the assistant shall answer")
async def get_chat_prompt(deps: ChatDeps, call: Call) -> ChatPromptOut:
    return _to_prompt_out(await deps.stores.profiles.get(call.uid))


@route(
    "PUT",
    "/v1/users/chat-prompt",
    "Say how the assistant shall answer, from the next message on",
)
async def set_chat_prompt(deps: ChatDeps, call: Call[ChatPromptIn]) -> ChatPromptOut:
    profile = await deps.stores.profiles.change(
        call.uid, chat_prompt=call.body.prompt, chat_reminder=call.body.reminder
    )
    return _to_prompt_out(profile)


@route("DELETE", "/v1/users/chat-prompt", "Let the assistant answer as it usually does")
async def reset_chat_prompt(deps: ChatDeps, call: Call) -> ChatPromptOut:
    return _to_prompt_out(
        await deps.stores.profiles.change(call.uid, chat_prompt="", chat_reminder="")
    )


def _to_prompt_out(profile: Profile) -> ChatPromptOut:
    return ChatPromptOut(
        prompt=profile.chat_prompt,
        reminder=profile.chat_reminder,
        is_default=not profile.chat_prompt and not profile.chat_reminder,
    )


ROUTES = (get_chat_prompt, set_chat_prompt, reset_chat_prompt)
