"""Web tool where nothing is set up to search with: by its call the model says that a question is a lookup."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.toolkit import OwnResult, ResultRenderer, Tool
from shared.arguments import Arguments
from shared.domain.chats.built_in_names import BuiltInToolName

MISSING_WEB_SEARCH: BuiltInToolName = "search_web"
NOT_SET_UP = "Nothing is set up here to search the web with, so that this could not be checked."


class SearchWeb(Arguments):
    """Search the web for what is current or not in the owner's library; send nothing private."""

    query: Annotated[str, Field(min_length=1, max_length=1_000)]


def build_web_tools(*, can_search: bool) -> Sequence[Tool]:
    """Return the tool, unless a service searches the web."""
    if can_search:
        return []
    return [
        build_builtin_tool(
            MISSING_WEB_SEARCH, "Searching the web", SearchWeb, _say_missing, tool_class="read"
        )
    ]


async def _say_missing(_: SearchWeb) -> ResultRenderer:
    return OwnResult(text=NOT_SET_UP, shown_text=NOT_SET_UP)
