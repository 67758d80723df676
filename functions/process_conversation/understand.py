"""What a conversation comes to: worth keeping or not, its structure, its tasks, its memories."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

from functions.process_conversation.answers import DiscardAnswer, MemoriesAnswer, StructureAnswer
from functions.process_conversation.ask import ask, blocks, question
from functions.process_conversation.derived import revived
from functions.process_conversation.draft import Draft, kept, reconciled
from functions.process_conversation.memories import candidates, memories
from functions.process_conversation.structure import (
    KEPT_WITHOUT_ASKING_WORDS,
    joined,
    joined_topics,
    structured,
    topics,
    word_count,
)
from functions.process_conversation.wiring import ProcessDeps
from shared.domain.conversation import CATEGORIES, Conversation
from shared.domain.ids import UserId
from shared.domain.memory import Memory

SHOWN_MEMORIES = 100


async def understand(deps: ProcessDeps, uid: UserId, conversation: Conversation) -> Draft:
    """Decide what to keep; nothing is stored yet but the model's answers."""
    zone = (await deps.profiles.get(uid)).zone
    data = blocks(conversation, zone.key)
    if await _is_discarded(deps, uid, conversation, data[0]):
        draft = Draft(discarded=True)
    else:
        draft = await _kept(deps, uid, conversation, data, zone)
        draft = await _without_known_tasks(deps, uid, conversation, draft)
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
    data: Sequence[Mapping[str, Any]],
    zone: ZoneInfo,
) -> Draft:
    structures = await _structures(deps, uid, conversation, data)
    newest = await deps.memories.newest(uid, limit=SHOWN_MEMORIES)
    shown = _from_elsewhere(newest, conversation)
    facts = await _facts(deps, uid, conversation, data, shown)
    found = candidates(facts, conversation, shown)
    alike = await deps.memories.alike(uid, [one.memory for one in found])
    known = {memory.id: memory for memory in [*shown, *_from_elsewhere(alike, conversation)]}
    return kept(
        conversation,
        joined([structured(answer, conversation, zone) for answer in structures]),
        joined_topics([topics(answer) for answer in structures]),
        memories(found, [*known.values()]),
    )


async def _structures(
    deps: ProcessDeps, uid: UserId, conversation: Conversation, data: Sequence[Mapping[str, Any]]
) -> list[StructureAnswer]:
    prompts = [question("structure", one, categories=", ".join(CATEGORIES)) for one in data]
    return [
        await ask(deps, uid, conversation, prompt, role="standard", schema=StructureAnswer, block=n)
        for n, prompt in enumerate(prompts)
    ]


async def _facts(
    deps: ProcessDeps,
    uid: UserId,
    conversation: Conversation,
    data: Sequence[Mapping[str, Any]],
    shown: Sequence[Memory],
) -> MemoriesAnswer:
    existing = [{"number": n, "text": memory.content} for n, memory in enumerate(shown)]
    prompts = [question("memories", {**one, "existing_memories": existing}) for one in data]
    answers = [
        await ask(deps, uid, conversation, prompt, role="standard", schema=MemoriesAnswer, block=n)
        for n, prompt in enumerate(prompts)
    ]
    return MemoriesAnswer(memories=[memory for answer in answers for memory in answer.memories])


async def _without_known_tasks(
    deps: ProcessDeps, uid: UserId, conversation: Conversation, draft: Draft
) -> Draft:
    """Leave out what stands open already, from elsewhere, in the same words."""
    wordings = [item.wording for item in draft.action_items]
    open_items = await deps.action_items.open_in_words(uid, wordings)
    known = {item.wording for item in open_items if item.conversation_id != conversation.id}
    items = tuple(item for item in draft.action_items if item.wording not in known)
    return replace(draft, action_items=items)


def _from_elsewhere(known: Sequence[Memory], conversation: Conversation) -> list[Memory]:
    """Leave out what this conversation gave before: it is up for renewal."""
    return [m for m in known if m.is_owners or m.conversation_id != conversation.id]
