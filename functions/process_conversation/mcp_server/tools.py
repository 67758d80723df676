"""MCP tools: routes of the library under names of their own.

A tool reads, validates and answers as its route does; there is no second copy of either.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import create_model
from starlette.datastructures import Headers
from starlette.responses import Response

from functions.process_conversation.deps import LibraryDeps
from functions.process_conversation.library import action_items, conversations, memories
from functions.process_conversation.library.conversation_schemas import ClientId
from shared.data.codec import type_adapter
from shared.domain.ids import UserId
from shared.domain.sizes import truncate
from shared.domain.value import value
from shared.edge.routes import Call, Route
from shared.edge.schemas import Wire

MAX_RESULT_CHARS = 80_000


@value
class LibraryTool:
    """A route as a tool: its arguments are the route's path, query and body in one object."""

    name: str
    description: str
    route: Route[LibraryDeps]
    read_only: bool

    @property
    def schema(self) -> dict[str, Any]:
        """Describe the arguments as JSON Schema."""
        fields: dict[str, Any] = dict.fromkeys(self._path_parameters, (ClientId, ...))
        base = self.route.body or self.route.query or Wire
        schema = create_model(self.name, __base__=base, **fields).model_json_schema()
        return {name: part for name, part in schema.items() if name not in ("title", "description")}

    async def run(self, deps: LibraryDeps, uid: UserId, arguments: Mapping[str, Any]) -> str:
        """Return JSON for the client's model, cut where it is too long.

        Raises pydantic's ValidationError, and what the route's handler raises.
        """
        result = await self.route.handler(deps, self._build_call(uid, arguments))
        if isinstance(result, Response):
            return _truncate_result(bytes(result.body).decode())
        return _truncate_result(type_adapter(self.route.response).dump_json(result).decode())

    def _build_call(self, uid: UserId, arguments: Mapping[str, Any]) -> Call[Any, Any]:
        other_arguments = {
            name: argument
            for name, argument in arguments.items()
            if name not in self._path_parameters
        }
        path_arguments = {name: arguments.get(name) for name in self._path_parameters}
        route = self.route
        return Call(
            request_line=f"{route.method} {route.path}",
            uid=uid,
            body=route.body and type_adapter(route.body).validate_json(json.dumps(other_arguments)),
            path=type_adapter(dict[str, ClientId]).validate_python(path_arguments),
            query=route.query and route.query.model_validate(other_arguments),
            headers=Headers(),
            caller=None,
        )

    @property
    def _path_parameters(self) -> list[str]:
        return re.findall(r"{(\w+)}", self.route.path)


def _truncate_result(text: str) -> str:
    return truncate(text, MAX_RESULT_CHARS, advice="; ask for less")


def _read_tool(name: str, description: str, route: Route[LibraryDeps]) -> LibraryTool:
    return LibraryTool(name=name, description=description, route=route, read_only=True)


def _write_tool(name: str, description: str, route: Route[LibraryDeps]) -> LibraryTool:
    return LibraryTool(name=name, description=description, route=route, read_only=False)


_TOOLS = (
    _read_tool(
        "search_conversations",
        "Find the owner's conversations by what was said in them, best first.",
        conversations.search_conversations,
    ),
    _read_tool(
        "get_conversations",
        "List the owner's conversations, newest first, without their transcripts.",
        conversations.list_conversations,
    ),
    _read_tool(
        "get_conversation",
        "Read one of the owner's conversations with its transcript.",
        conversations.get_conversation,
    ),
    _read_tool(
        "search_memories",
        "Find facts about the owner, best first.",
        memories.search_memories,
    ),
    _read_tool(
        "get_memories",
        "List facts about the owner, newest first.",
        memories.list_memories,
    ),
    _write_tool(
        "create_memory",
        "Remember a fact about the owner, in one sentence.",
        memories.add_memory,
    ),
    _read_tool(
        "get_action_items",
        "List what the owner wants done, newest first.",
        action_items.list_action_items,
    ),
    _write_tool(
        "create_action_item",
        "Write down something that the owner wants done.",
        action_items.add_action_item,
    ),
    _write_tool(
        "update_action_item",
        "Change what the owner wants done; what is left out keeps its value.",
        action_items.change_action_item,
    ),
    _write_tool(
        "complete_action_item",
        "Mark as done what the owner wanted done, or open it again.",
        action_items.complete_action_item,
    ),
)
TOOLS: Mapping[str, LibraryTool] = {tool.name: tool for tool in _TOOLS}
