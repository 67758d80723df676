"""Product tool: questions about Keepsake itself, answered from its own manual."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import anyio.to_thread
from pydantic import Field

from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.toolkit import OwnResult, ResultRenderer, Tool
from shared.arguments import Arguments

if TYPE_CHECKING:
    from functions.chat.tools.manual import Passage

MAX_PASSAGES = 4
NOTHING_FOUND = "Keepsake's manual says nothing about that. Tell the owner so; do not guess."


class GetProductInfo(Arguments):
    """Look up in Keepsake's manual how Keepsake itself works: setup, imports, models, apps, privacy, limits.

    Name the page that you rely on. Not for what the owner said or did.
    """

    query: Annotated[
        str, Field(min_length=1, max_length=500, description="Some words, in English.")
    ]


def build_product_tools() -> list[Tool]:
    return [
        build_builtin_tool(
            "get_product_info",
            "Looking it up in the manual",
            GetProductInfo,
            _get_product_info,
            tool_class="read",
        )
    ]


async def _get_product_info(arguments: GetProductInfo) -> ResultRenderer:
    from functions.chat.tools.manual import (
        search_manual,  # here, because few questions need the pages
    )

    passages = await anyio.to_thread.run_sync(
        lambda: search_manual(arguments.query, limit=MAX_PASSAGES)
    )
    if not passages:
        return OwnResult(text=NOTHING_FOUND, shown_text="The manual says nothing about that.")
    pages = dict.fromkeys(passage.title for passage in passages)
    return OwnResult(text=_format(passages), shown_text=f"Found in the manual: {', '.join(pages)}.")


def _format(passages: Sequence["Passage"]) -> str:
    parts = []
    for passage in passages:
        section = f", “{passage.section}”" if passage.section else ""
        parts.append(f"From the page “{passage.title}”{section}:\n\n{passage.text}")
    return "\n\n".join(parts)
