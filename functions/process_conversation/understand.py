"""What a conversation comes to: worth keeping or not, its structure, its tasks, its memories."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

from functions.process_conversation.answers import DiscardAnswer, MemoriesAnswer, StructureAnswer
from functions.process_conversation.ask import ask, question, transcript
from functions.process_conversation.derived import revived
from functions.process_conversation.draft import Draft, kept, reconciled
from functions.process_conversation.memories import memories
from functions.process_conversation.structure import (
    KEPT_WITHOUT_ASKING_WORDS,
    structured,
    topics,
    word_count,
)
from functions.process_conversation.wiring import ProcessDeps
from shared.domain.conversation import CATEGORIES, Conversation
from shared.domain.ids import UserId
from shared.domain.memory import Memory

KNOWN_MEMORIES = 500
SHOWN_MEMORIES = 100


async def understand(deps: ProcessDeps, uid: UserId, conversation: Conversation) -> Draft:
    """Decide what to keep; nothing is stored yet but the model's answers."""
    zone = (await deps.profiles.get(uid)).zone
    data = transcript(conversation, zone.key)
    if await _is_discarded(deps, uid, conversation, data):
        draft = Draft(discarded=True)
    else:
        draft = await _kept(deps, uid, conversation, data, zone)
    items = await deps.action_items.of_conversation(uid, conversation.id)
    earlier = await deps.memories.of_conversation(uid, conversation.id)
    indexed = conversation.held_by.memory_ids if conversation.held_by else ()
    draft = reconciled(draft, items, earlier, indexed)
    gone = [memory for memory in draft.stale_memories if not memory.seen_in]
    superseded = await deps.memories.superseded_by(uid, [memory.id for memory in gone])
    return replace(draft, revived=revived(superseded, gone))


async def _is_discarded(
    deps: ProcessDeps, uid: UserId, conversation: Conversation, data: Mapping[str, Any]
) -> bool:
    """Ask only about short ones; silence needs no question."""
    words = word_count(conversation)
    if words == 0 or words > KEPT_WITHOUT_ASKING_WORDS:
        return words == 0
    prompt = question("discard", data)
    answer = await ask(deps, uid, conversation, prompt, role="fast", schema=DiscardAnswer)
    return answer.discard


async def _kept(
    deps: ProcessDeps,
    uid: UserId,
    conversation: Conversation,
    data: Mapping[str, Any],
    zone: ZoneInfo,
) -> Draft:
    prompt = question("structure", data, categories=", ".join(CATEGORIES))
    structure = await ask(deps, uid, conversation, prompt, role="standard", schema=StructureAnswer)
    known = await _known_memories(deps, uid, conversation)
    shown = [{"number": n, "text": m.content} for n, m in enumerate(known[:SHOWN_MEMORIES])]
    prompt = question("memories", {**data, "existing_memories": shown})
    facts = await ask(deps, uid, conversation, prompt, role="standard", schema=MemoriesAnswer)
    return kept(
        conversation,
        structured(structure, conversation, zone),
        topics(structure),
        memories(facts, conversation, known),
    )


async def _known_memories(
    deps: ProcessDeps, uid: UserId, conversation: Conversation
) -> list[Memory]:
    """Return what is known from elsewhere; what this conversation gave is up for renewal."""
    newest = await deps.memories.newest(uid, limit=KNOWN_MEMORIES)
    return [m for m in newest if m.is_owners or m.conversation_id != conversation.id]
