"""Memory tool of a voice session: it writes only what stands behind words that the owner said."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, StringConstraints

from functions.chat.consent.reading import Reading
from functions.chat.deps import ChatDeps
from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.memory_tools import Remember, remember_fact
from functions.chat.tools.toolkit import ResultRenderer, Tool
from shared.domain.errors import ToolRefused
from shared.domain.ids import UserId
from shared.domain.words import stands_in

NOT_SAID = "The owner did not say these words. Quote them letter for letter, or do not call this."


class RememberSpoken(Remember):
    """Write down a lasting fact about the owner, when the owner says that it be remembered."""

    user_quote: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=4, max_length=500),
        Field(description="The words by which the owner just asked for it, letter for letter."),
    ]


def build_spoken_memory_tools(deps: ChatDeps, uid: UserId, spoken: Sequence[str]) -> list[Tool]:
    """Build the tool over `spoken`, what the owner said of late."""

    async def remember(arguments: RememberSpoken) -> ResultRenderer:
        if not any(stands_in(arguments.user_quote, text) for text in spoken):
            raise ToolRefused(NOT_SAID)
        return await remember_fact(deps, uid, Reading(spoken), arguments)

    return [
        build_builtin_tool(
            "remember", "Writing a memory", RememberSpoken, remember, tool_class="write"
        )
    ]
