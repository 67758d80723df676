"""Built-in tools: the class of a tool's arguments is also what the model reads about it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from functions.chat.consent.call_words import Item
from functions.chat.tools.toolkit import ResultRenderer, Tool
from shared.arguments import ArgumentsT, build_tool_spec, parse_arguments
from shared.domain.chats.built_in_names import BuiltInToolName
from shared.domain.provenance import LIBRARY, TextKind
from shared.security.tool_class import ToolClass

MORE_HITS = "There are more that fit as well. Do not count these as all."
"""Of a search: hits that were left out are about as likely what was meant."""


def build_builtin_tool(
    name: BuiltInToolName,
    status: str,
    arguments_type: type[ArgumentsT],
    handle: Callable[[ArgumentsT], Awaitable[ResultRenderer]],
    *,
    tool_class: ToolClass,
    sensitive_arguments: Sequence[str] = (),
    is_search: bool = False,
    reads: TextKind | None = None,
    check: Callable[[ArgumentsT], object] | None = None,
    name_items: Callable[[ArgumentsT], Awaitable[Mapping[str, Item]]] | None = None,
) -> Tool:
    """Build a tool that calls `handle` with validated arguments. It asks each time that it asks at all.

    Before its owner is asked, `check` sees what `handle` would refuse, and `name_items` returns what ids stand for.
    Both raise ToolRefused.
    """

    async def run(arguments: Mapping[str, Any], _: str) -> ResultRenderer:
        return await handle(parse_arguments(name, arguments_type, arguments))

    async def check_arguments(arguments: Mapping[str, Any]) -> None:
        parsed = parse_arguments(name, arguments_type, arguments)
        if check is not None:
            check(parsed)

    async def find_items(arguments: Mapping[str, Any]) -> Mapping[str, Item]:
        if name_items is None:
            return {}
        return await name_items(parse_arguments(name, arguments_type, arguments))

    return Tool(
        spec=build_tool_spec(name, arguments_type),
        status=status,
        run=run,
        source=LIBRARY,
        tool_class=tool_class,
        sensitive_arguments=sensitive_arguments,
        is_grantable=False,
        check=check_arguments,
        name_items=find_items,
        is_search=is_search,
        reads=reads,
    )
