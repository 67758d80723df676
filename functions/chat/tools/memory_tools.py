"""Memory tool: write down a fact that the owner asks to be remembered."""

from functools import partial
from typing import Annotated

from pydantic import Field, StringConstraints

from functions.chat.deps import ChatDeps
from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.toolkit import ChangeResult, ResultRenderer, Tool, render_fixed
from shared.arguments import Arguments
from shared.domain.ids import UserId
from shared.domain.library_change import LibraryChange
from shared.library.manual_memories import build_manual_memory, find_manual_memory
from shared.library.memory_index import index_memories


class Remember(Arguments):
    """Write down a lasting fact about the owner, when the owner asks to remember it."""

    fact: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=500),
        Field(description="The fact in the owner's words, without “remember that”."),
    ]


def build_memory_tools(deps: ChatDeps, uid: UserId) -> list[Tool]:
    return [
        build_builtin_tool(
            "remember",
            "Writing a memory",
            Remember,
            partial(remember_fact, deps, uid),
            tool_class="write",
        )
    ]


async def remember_fact(deps: ChatDeps, uid: UserId, arguments: Remember) -> ResultRenderer:
    """Write the fact once; the change can be undone from the answer."""
    if await find_manual_memory(deps.stores.memories, uid, arguments.fact):
        return render_fixed(f"This is remembered already: “{arguments.fact}”")
    memory = build_manual_memory(deps.new_id(), arguments.fact, deps.clock.now())
    stored = await deps.stores.memories.add(uid, memory)
    await index_memories(deps.stores.memories, deps.index, uid, [stored])
    text = f"Remembered “{stored.content}”"
    change = LibraryChange(id=deps.new_id(), text=text, before=None, after=stored)
    return ChangeResult(text=f"{text}.", shown_text=f"{text}.", change=change)
