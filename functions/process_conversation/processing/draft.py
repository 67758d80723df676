"""Draft: what to store of a conversation, and what of its earlier content to remove."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import field, replace
from typing import Self

from shared.domain.conversations.attachments import AppResult
from shared.domain.conversations.conversation import Conversation, Structured, Topics, apply_edits
from shared.domain.conversations.derived_ids import DerivedIds, build_action_item_id
from shared.domain.ids import AppId, MemoryId
from shared.domain.memories.memory import Memory
from shared.domain.tasks.action_item import ActionItem
from shared.domain.value import value
from shared.library.reconcile import Correction, Reconciliation
from shared.retrieval.chunking import split_into_chunks


@value
class Draft:
    """Built before anything is stored. `chunk_count`: vector chunks it will have; 0 if discarded.

    `repeated_ids` are known memories that the conversation repeats, `corrections` known ones that are
    no longer true, and `unrepeated_ids` those that it repeated before and does not any more. `stale_row_ids` are memories that may be in the index and must not, stored or not.
    `released_memories` were held until the conversation said them too. `restored_memories` are true again: what corrected them no longer occurs. `apps_results` are texts of
    summary apps, and `suggested_apps` those that suit. `dropped_memories` counts by reason what was not proved or not fit to keep.
    """

    discarded: bool = False
    structured: Structured = field(default_factory=Structured)
    topics: Topics = field(default_factory=Topics)
    action_items: tuple[ActionItem, ...] = ()
    memories: tuple[Memory, ...] = ()
    repeated_ids: tuple[MemoryId, ...] = ()
    unrepeated_ids: tuple[MemoryId, ...] = ()
    corrections: tuple[Correction, ...] = ()
    stale_items: tuple[ActionItem, ...] = ()
    stale_memories: tuple[Memory, ...] = ()
    stale_row_ids: tuple[MemoryId, ...] = ()
    restored_memories: tuple[Memory, ...] = ()
    released_memories: tuple[Memory, ...] = ()
    chunk_count: int = 0
    apps_results: tuple[AppResult, ...] = ()
    suggested_apps: tuple[AppId, ...] = ()
    dropped_memories: Mapping[str, int] = field(default_factory=dict)

    @property
    def stale_values(self) -> list[ActionItem | Memory]:
        return [*self.stale_items, *self.stale_memories]

    def exclude_memories(self, ids: Container[str]) -> Self:
        """Leave out memories that the owner deleted; another attempt may have written their rows."""
        excluded_ids = [memory.id for memory in self.memories if memory.id in ids]
        return replace(
            self,
            stale_row_ids=(*self.stale_row_ids, *excluded_ids),
            memories=tuple(memory for memory in self.memories if memory.id not in ids),
            corrections=tuple(
                correction for correction in self.corrections if correction.new_id not in ids
            ),
        )


def build_draft(
    conversation: Conversation,
    structured: Structured,
    topics: Topics,
    reconciliation: Reconciliation,
    ids: DerivedIds,
) -> Draft:
    structured = replace(structured, action_items=ids.identify(structured.action_items))
    return Draft(
        structured=apply_edits(structured, conversation.edits),
        topics=topics,
        action_items=_build_action_items(conversation, structured),
        memories=reconciliation.memories,
        repeated_ids=reconciliation.repeated_ids,
        released_memories=reconciliation.released,
        corrections=reconciliation.corrections,
        chunk_count=len(split_into_chunks(conversation.named_segments)),
    )


def reconcile_with_stored(
    draft: Draft,
    items: Sequence[ActionItem],
    memories: Sequence[Memory],
    indexed_ids: Sequence[MemoryId] = (),
) -> Draft:
    """Leave out what its owner changed, and list as stale what no longer occurs.

    `indexed_ids` are memories of earlier attempts that may be in the index.
    """
    stored_values: list[ActionItem | Memory] = [*items, *memories]
    user_owned_ids = {
        stored_value.id for stored_value in stored_values if stored_value.is_user_owned
    }
    kept_items = tuple(item for item in draft.action_items if item.id not in user_owned_ids)
    kept_memories = tuple(memory for memory in draft.memories if memory.id not in user_owned_ids)
    retained_ids = (
        user_owned_ids | {item.id for item in kept_items} | {memory.id for memory in kept_memories}
    )
    # What others repeat too passes to one of them, and is found as before.
    passed_ids = {memory.id for memory in memories if memory.seen_in}
    return replace(
        draft,
        action_items=kept_items,
        memories=kept_memories,
        stale_items=tuple(item for item in items if item.id not in retained_ids),
        stale_memories=tuple(memory for memory in memories if memory.id not in retained_ids),
        stale_row_ids=tuple(
            sorted({*indexed_ids, *(memory.id for memory in memories)} - retained_ids - passed_ids)
        ),
    )


def apply_draft(conversation: Conversation, draft: Draft) -> Conversation:
    """Return the conversation as the draft makes it; its old chunk count stays."""
    return replace(
        conversation,
        discarded=draft.discarded,
        structured=draft.structured,
        topics=draft.topics,
    )


def _build_action_items(
    conversation: Conversation, structured: Structured
) -> tuple[ActionItem, ...]:
    return tuple(
        ActionItem(
            id=item.id or build_action_item_id(conversation.id, item.description),
            description=item.description,
            created_at=conversation.finished_at,
            updated_at=conversation.finished_at,
            due_at=item.due_at,
            conversation_id=conversation.id,
            owner=item.owner,
            owner_name=item.owner_name,
            read_kinds=conversation.text_kinds,
        )
        for item in structured.action_items
    )
