"""Memory tools: write down, correct and delete facts about the owner, each category by its rules."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated

from pydantic import Field, StringConstraints

from functions.chat.consent.call_words import Item
from functions.chat.consent.taint import Taint
from functions.chat.deps import ChatDeps
from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.toolkit import ChangeResult, ResultRenderer, Tool, render_fixed
from shared.arguments import Arguments
from shared.domain.chats.library_change import LibraryChange
from shared.domain.errors import NotFound, ToolRefused
from shared.domain.ids import UserId
from shared.domain.memories.memory import MAX_WORDS, Memory, MemoryCategory, is_short_enough
from shared.domain.provenance import TextKinds
from shared.library.manual_memories import (
    build_manual_memory,
    find_manual_memory,
)
from shared.library.memory_index import index_memories
from shared.library.owner_memories import change_memory, forget_memories

Fact = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
MAX_DELETED = 20
NO_SUCH_MEMORY = "there is no such memory. Call get_memories for the ids."
MemoryReference = Annotated[
    str, Field(max_length=200, description="Its id, from get_memories or search_memories.")
]


class Remember(Arguments):
    """Write down a lasting fact about the owner, when the owner asks to remember it."""

    fact: Annotated[
        Fact, Field(description="The fact in the owner's words, without “remember that”.")
    ]
    category: Annotated[
        MemoryCategory,
        Field(
            description="“manual” for the owner's own words; only when they name it, “system” for a fact "
            f"about them or “interesting” for what others taught them, in at most {MAX_WORDS} words."
        ),
    ] = "manual"


class UpdateMemory(Arguments):
    """Correct what one memory says, when the owner asks for it."""

    memory_id: MemoryReference
    fact: Annotated[
        Fact,
        Field(
            description="All that it says from now on; of category system or interesting, at most "
            f"{MAX_WORDS} words."
        ),
    ]


class MemoryToDelete(Arguments):
    """A memory, and what the owner is shown of it before they confirm."""

    memory_id: MemoryReference
    text: Annotated[
        str,
        Field(max_length=2_000, description="What it says, letter for letter: the owner reads it."),
    ]


class DeleteMemories(Arguments):
    """Delete memories for good, when the owner asks for it: one, or all about a topic or a person.

    They are asked to confirm it.
    """

    memories: Annotated[
        list[MemoryToDelete],
        Field(min_length=1, max_length=MAX_DELETED, description="All of them."),
    ]


def build_memory_tools(
    deps: ChatDeps, uid: UserId, taint: Taint, *, recalls_memories: bool = True
) -> list[Tool]:
    """Return the tools in a fixed order; while memories are not recalled, the model knows no ids."""
    remember = build_builtin_tool(
        "remember",
        "Writing a memory",
        Remember,
        partial(remember_fact, deps, uid, taint),
        tool_class="write",
    )
    tools_by_id = [
        build_builtin_tool(
            "update_memory",
            "Changing a memory",
            UpdateMemory,
            partial(_update_memory, deps, uid, taint),
            tool_class="write",
            name_items=partial(_name_memory, deps, uid),
        ),
        build_builtin_tool(
            "delete_memories",
            "Deleting memories",
            DeleteMemories,
            partial(_delete_memories, deps, uid),
            tool_class="sensitive",
            name_items=partial(_name_memories, deps, uid),
        ),
    ]
    return [remember, *(tools_by_id if recalls_memories else [])]


async def remember_fact(
    deps: ChatDeps, uid: UserId, taint: Taint, arguments: Remember
) -> ResultRenderer:
    """Write the fact once; the change can be undone from the answer."""
    _check_length(arguments.category, arguments.fact)
    kinds = await taint.find_kinds(arguments.fact)
    change = await write_fact(deps, uid, arguments.fact, arguments.category, kinds)
    if change is None:
        return render_fixed(f"This is remembered already: “{arguments.fact}”")
    return _show_change(change)


async def write_fact(
    deps: ChatDeps,
    uid: UserId,
    fact: str,
    category: MemoryCategory = "manual",
    read_kinds: TextKinds = (),
) -> LibraryChange | None:
    """Write a fact and return the change; None where it is remembered in these words already."""
    if await find_manual_memory(deps.stores.memories, uid, fact, is_own=not read_kinds):
        return None
    memory = build_manual_memory(deps.new_id(), fact, deps.clock.now(), category, read_kinds)
    stored = await deps.stores.memories.add(uid, memory)
    await index_memories(deps.stores.memories, deps.index, uid, [stored])
    text = f"Remembered “{stored.content}”"
    return LibraryChange(id=deps.new_id(), text=text, before=None, after=stored)


async def _update_memory(
    deps: ChatDeps, uid: UserId, taint: Taint, arguments: UpdateMemory
) -> ResultRenderer:
    known = await _get_memory(deps, uid, arguments.memory_id)
    _check_length(known.category, arguments.fact)
    before, after = await change_memory(
        deps.stores.memories,
        deps.index,
        deps.clock,
        uid,
        known.id,
        await taint.find_kinds(arguments.fact),
        content=arguments.fact,
    )
    text = f"Changed the memory “{before.content}” to “{after.content}”"
    return _show_change(LibraryChange(id=deps.new_id(), text=text, before=before, after=after))


async def _name_memory(deps: ChatDeps, uid: UserId, arguments: UpdateMemory) -> Mapping[str, Item]:
    memory = await _get_memory(deps, uid, arguments.memory_id)
    _check_length(memory.category, arguments.fact)
    return {memory.id: Item(name=memory.content)}


async def _name_memories(
    deps: ChatDeps, uid: UserId, arguments: DeleteMemories
) -> Mapping[str, Item]:
    return {m.id: Item(name=m.content) for m in await _find_memories(deps, uid, arguments)}


async def _find_memories(
    deps: ChatDeps, uid: UserId, arguments: DeleteMemories
) -> Sequence[Memory]:
    """Raises ToolRefused where one says something else than the owner is told."""
    found = {item.memory_id: item.text for item in arguments.memories}
    memories = [await _get_memory(deps, uid, memory_id) for memory_id in found]
    if [memory.content for memory in memories] != list(found.values()):
        raise ToolRefused("a memory says something else. Call get_memories for what it says.")
    return memories


async def _delete_memories(
    deps: ChatDeps, uid: UserId, arguments: DeleteMemories
) -> ResultRenderer:
    """Delete what the owner was asked about, or nothing. Raises ToolRefused for other words."""
    memories = await _find_memories(deps, uid, arguments)
    await deps.stores.profiles.change(uid, forgot_at=deps.clock.now())
    await forget_memories(deps.stores.memories, deps.index, uid, memories)
    return render_fixed(f"Deleted: {', '.join(f'“{memory.content}”' for memory in memories)}.")


async def _get_memory(deps: ChatDeps, uid: UserId, memory_id: str) -> Memory:
    """Return a memory that is true now. Raises ToolRefused for any other."""
    try:
        memory = await deps.stores.memories.get(uid, memory_id)
    except NotFound as error:
        raise ToolRefused(NO_SUCH_MEMORY) from error
    if not memory.is_current:
        raise ToolRefused(NO_SUCH_MEMORY)
    return memory


def _check_length(category: MemoryCategory, fact: str) -> None:
    """Raises ToolRefused for a fact that is too long for its category."""
    if not is_short_enough(category, fact):
        raise ToolRefused(f"a memory of category {category} has at most {MAX_WORDS} words.")


def _show_change(change: LibraryChange) -> ResultRenderer:
    return ChangeResult(text=f"{change.text}.", shown_text=f"{change.text}.", change=change)
