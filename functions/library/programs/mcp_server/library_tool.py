"""Library tools: what an MCP client can call, each a function over the owner's library.

    @tool("read", "List facts about the owner, newest first.")
    async def get_memories(deps: LibraryDeps, uid: UserId, filters: MemoriesFilter) -> Result: ...

The decorator takes the name of the tool and the type of its arguments from the function.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from pydantic_core import to_json

from functions.library.pagination import OffsetPage
from shared.arguments import read_json_schema
from shared.domain.ids import UserId
from shared.domain.store.sizes import truncate
from shared.domain.value import value
from shared.edge.declare.schemas import Wire
from shared.library.deps import LibraryDeps
from shared.models.absent_arguments import drop_absent

MAX_RESULT_CHARS = 80_000
Effect = Literal["read", "write", "delete"]
Result: TypeAlias = Mapping[str, Any]
Run: TypeAlias = Callable[[LibraryDeps, UserId, Any], Awaitable[Result]]


@value
class LibraryTool:
    """A tool; `run` returns what becomes one JSON object for the client's model."""

    name: str
    description: str
    arguments: type[Wire]
    effect: Effect
    run: Run

    @property
    def is_read_only(self) -> bool:
        return self.effect == "read"

    @property
    def schema(self) -> dict[str, Any]:
        """Describe the arguments as JSON Schema."""
        schema = read_json_schema(self.arguments)
        return {name: part for name, part in schema.items() if name not in ("title", "description")}

    async def call(self, deps: LibraryDeps, uid: UserId, arguments: Mapping[str, Any]) -> str:
        """Return JSON, cut where it is too long.

        Raises pydantic's ValidationError for bad arguments, and what the function raises.
        """
        given = drop_absent(arguments, read_json_schema(self.arguments))
        result = await self.run(deps, uid, self.arguments.model_validate(given))
        return truncate(to_json(result).decode(), MAX_RESULT_CHARS, advice="; ask for less")


def build_list(
    noun: str,
    items: Sequence[Any],
    *,
    has_more: bool,
    next_offset: int | None = None,
    total: int | None = None,
) -> Result:
    """Return the items; where there are more, also that, where they begin, and how many there are in all, if known.

    What tells of the rest comes first: a result that is too long loses its end.
    """
    places = {"next_offset": next_offset, "total": total}
    known = {name: number for name, number in places.items() if number is not None}
    return {**({"more": True, **known} if has_more else {}), noun: items}


def build_page(noun: str, page: OffsetPage[Any], kind: type[Wire], *, end: int) -> Result:
    """Return the items of a page, as schemas; `end` is the offset behind them."""
    shown = list(map(kind.model_validate, page.items))
    return build_list(noun, shown, has_more=page.has_more, next_offset=end, total=page.total)


def tool(effect: Effect, description: str) -> Callable[[Run], LibraryTool]:
    """Make a function, `async def name(deps, uid, arguments: …) -> Result`, a tool."""

    def build_tool(run: Run) -> LibraryTool:
        *_, arguments, _ = run.__annotations__.values()
        return LibraryTool(
            name=getattr(run, "__name__", ""),
            description=description,
            arguments=arguments,
            effect=effect,
            run=run,
        )

    return build_tool
