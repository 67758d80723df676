"""Content extraction: discard a conversation, or build its structure, tasks and memories."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

from functions.process_conversation.deps import ProcessDeps
from functions.process_conversation.processing.cached_completion import (
    build_prompt,
    complete_once,
    split_transcript,
)
from functions.process_conversation.processing.draft import (
    Draft,
    build_draft,
    reconcile_with_stored,
)
from functions.process_conversation.processing.memory_selection import (
    decide_memories,
    select_candidates,
)
from functions.process_conversation.processing.model_outputs import (
    DiscardOutput,
    MemoriesOutput,
    StructureOutput,
)
from functions.process_conversation.processing.structure import (
    MAX_DISCARDABLE_WORDS,
    build_structure,
    build_topics,
    count_transcript_words,
    merge_structures,
    merge_topics,
)
from shared.domain.conversation import CATEGORIES, Conversation, apply_edits
from shared.domain.ids import UserId
from shared.domain.memory import Memory
from shared.domain.words import build_wording
from shared.library.superseded import restore_superseded

MAX_SHOWN_MEMORIES = 100


def _keep_structure(conversation: Conversation) -> Draft:
    """Return the draft of a conversation whose text was deleted: nothing but its owner's changes."""
    return Draft(
        discarded=conversation.discarded,
        structured=apply_edits(conversation.structured, conversation.edits),
        topics=conversation.topics,
    )


async def extract_content(deps: ProcessDeps, uid: UserId, conversation: Conversation) -> Draft:
    """Build the draft of what to store; so far only the model's answers are stored."""
    if conversation.has_deleted_transcript:
        return _keep_structure(conversation)
    zone = (await deps.stores.profiles.get(uid)).zone
    data = split_transcript(conversation, zone.key)
    if await _is_discarded(deps, uid, conversation, data[0]):
        draft = Draft(discarded=True)
    else:
        draft = await _extract_draft(deps, uid, conversation, data, zone)
        draft = await _drop_known_tasks(deps, uid, conversation, draft)
    items = await deps.stores.action_items.list_for_conversation(uid, conversation.id)
    earlier_memories = await deps.stores.memories.list_for_conversation(uid, conversation.id)
    indexed_ids = conversation.held_by.memory_ids if conversation.held_by else ()
    draft = reconcile_with_stored(draft, items, earlier_memories, indexed_ids)
    removed_memories = [memory for memory in draft.stale_memories if not memory.seen_in]
    superseded_memories = await deps.stores.memories.list_superseded_by(
        uid, [memory.id for memory in removed_memories]
    )
    return replace(
        draft, restored_memories=restore_superseded(superseded_memories, removed_memories)
    )


async def _is_discarded(
    deps: ProcessDeps, uid: UserId, conversation: Conversation, data: Mapping[str, Any]
) -> bool:
    """Ask the model about short transcripts only; an empty one is discarded unasked."""
    words = count_transcript_words(conversation, limit=MAX_DISCARDABLE_WORDS)
    if words == 0 or words > MAX_DISCARDABLE_WORDS:
        return words == 0
    prompt = build_prompt("discard", data)
    answer = await complete_once(deps, uid, conversation, prompt, role="fast", schema=DiscardOutput)
    return answer.discard


async def _extract_draft(
    deps: ProcessDeps,
    uid: UserId,
    conversation: Conversation,
    data: Sequence[Mapping[str, Any]],
    zone: ZoneInfo,
) -> Draft:
    structures = await _extract_structures(deps, uid, conversation, data)
    newest_memories = await deps.stores.memories.list_newest(uid, limit=MAX_SHOWN_MEMORIES)
    shown_memories = _select_from_elsewhere(newest_memories, conversation)
    facts = await _extract_memories(deps, uid, conversation, data, shown_memories)
    fact_candidates = select_candidates(facts, conversation, shown_memories)
    conflicting_memories = await deps.stores.memories.find_conflicting(
        uid, [candidate.memory for candidate in fact_candidates]
    )
    known_by_id = {
        memory.id: memory
        for memory in [*shown_memories, *_select_from_elsewhere(conflicting_memories, conversation)]
    }
    return build_draft(
        conversation,
        merge_structures([build_structure(answer, conversation, zone) for answer in structures]),
        merge_topics([build_topics(answer) for answer in structures]),
        decide_memories(fact_candidates, [*known_by_id.values()]),
    )


async def _extract_structures(
    deps: ProcessDeps, uid: UserId, conversation: Conversation, data: Sequence[Mapping[str, Any]]
) -> list[StructureOutput]:
    prompts = [build_prompt("structure", block, categories=", ".join(CATEGORIES)) for block in data]
    return [
        await complete_once(
            deps, uid, conversation, prompt, role="standard", schema=StructureOutput, block=n
        )
        for n, prompt in enumerate(prompts)
    ]


async def _extract_memories(
    deps: ProcessDeps,
    uid: UserId,
    conversation: Conversation,
    data: Sequence[Mapping[str, Any]],
    shown_memories: Sequence[Memory],
) -> MemoriesOutput:
    existing = [{"number": n, "text": memory.content} for n, memory in enumerate(shown_memories)]
    prompts = [build_prompt("memories", {**block, "existing_memories": existing}) for block in data]
    answers = [
        await complete_once(
            deps, uid, conversation, prompt, role="standard", schema=MemoriesOutput, block=n
        )
        for n, prompt in enumerate(prompts)
    ]
    return MemoriesOutput(memories=[memory for answer in answers for memory in answer.memories])


async def _drop_known_tasks(
    deps: ProcessDeps, uid: UserId, conversation: Conversation, draft: Draft
) -> Draft:
    """Leave out tasks that are open already, in the same words, from elsewhere."""
    wordings = {item.id: build_wording(item.description) for item in draft.action_items}
    open_items = await deps.stores.action_items.list_open_by_wording(uid, [*wordings.values()])
    known_wordings = {
        item.wording for item in open_items if item.conversation_id != conversation.id
    }
    items = tuple(item for item in draft.action_items if wordings[item.id] not in known_wordings)
    return replace(draft, action_items=items)


def _select_from_elsewhere(
    known_memories: Sequence[Memory], conversation: Conversation
) -> list[Memory]:
    """Leave out what this conversation gave before: it is extracted anew."""
    return [m for m in known_memories if m.is_user_owned or m.conversation_id != conversation.id]
