"""A tool of our own: its arguments are a class, whose words are what the model reads."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from functions.chat.tools.toolkit import Present, Tool
from shared.arguments import Asked, checked, spec
from shared.domain.provenance import LIBRARY


def own_tool(
    name: str,
    status: str,
    asked: type[Asked],
    handle: Callable[[Asked], Awaitable[Present]],
    *,
    side_effect: bool,
) -> Tool:
    """Offer `handle` under `name`; it gets arguments that were checked."""

    async def run(arguments: Mapping[str, Any]) -> Present:
        return await handle(checked(name, asked, arguments))

    return Tool(
        spec=spec(name, asked), status=status, run=run, source=LIBRARY, side_effect=side_effect
    )
