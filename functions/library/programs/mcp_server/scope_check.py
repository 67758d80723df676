"""Scope check: a program that was let in to read only is told, before anything runs, what to ask its owner for.

Also called: step-up authorization, insufficient scope.
"""

from typing import Any

from pydantic_core import from_json

from functions.library.programs.challenges import refuse_scope
from functions.library.programs.key_access import KeyOwner
from functions.library.programs.mcp_server.tools import TOOLS
from shared.library.deps import LibraryDeps


def check_scope(deps: LibraryDeps, owner: KeyOwner, body: bytes) -> None:
    """Raise RequestRejected for a call of a tool that writes; keys learn of it from the tool's result."""
    if not owner.is_connected or owner.scope == "write":
        return
    try:
        sent = from_json(body)
    except ValueError:
        return
    if any(map(_calls_writing_tool, sent if isinstance(sent, list) else [sent])):
        raise refuse_scope(deps.public_url)


def _calls_writing_tool(message: Any) -> bool:
    if not isinstance(message, dict) or message.get("method") != "tools/call":
        return False
    params = message.get("params")
    name = params.get("name") if isinstance(params, dict) else None
    return isinstance(name, str) and name in TOOLS and not TOOLS[name].is_read_only
