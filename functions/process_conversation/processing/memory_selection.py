"""Memory selection: the model's memories that are stored.

They are short, few and new, and rest on words of the transcript that were meant to last.

Also called: fact extraction, memory extraction.
"""

from collections.abc import Sequence
from dataclasses import replace

from functions.process_conversation.processing.model_outputs import MemoryOutput
from shared.domain.conversations.conversation import Conversation, Segment
from shared.domain.conversations.derived_ids import DerivedIds
from shared.domain.ids import MemoryId
from shared.domain.memories.memory import HOLD_TIME, Memory, MemoryCategory, is_short_enough
from shared.domain.words import normalise
from shared.library.reconcile import Candidate, Reconciliation, reconcile
from shared.library.write_policy import WriteTiming, decide_timing

MAX_PER_CATEGORY = 2
MAX_HELD_PER_CONVERSATION = 2
MAX_HELD = 50
"""How many facts of a user wait for another conversation at a time; no more are added."""
MAX_REPEATED = 20
"""How many known facts a conversation may repeat: a commit holds at most 500 writes."""
EXTRACTED_CATEGORIES: tuple[MemoryCategory, ...] = ("interesting", "system")


def select_candidates(
    answers: Sequence[MemoryOutput],
    conversation: Conversation,
    ids: DerivedIds,
) -> list[Candidate]:
    """Select the supported facts."""
    segments = conversation.named_segments
    supported_facts = _keep_latest([m for m in answers if _is_supported(m, segments)])
    return [
        Candidate(
            memory=_build_memory(fact, category, conversation, ids),
            replaced_id=fact.replaced_id,
            repeated_id=fact.repeated_id,
        )
        for category in EXTRACTED_CATEGORIES
        for fact in supported_facts
        if fact.category == category
    ]


def decide_memories(
    candidates: Sequence[Candidate], known_memories: Sequence[Memory]
) -> Reconciliation:
    """Decide what to store; `known_memories` are from other conversations or the owner."""
    held_count = sum(memory.is_held for memory in known_memories)
    max_held = max(0, min(MAX_HELD_PER_CONVERSATION, MAX_HELD - held_count))
    return _limit_count(reconcile(candidates, known_memories), max_held)


def _limit_count(reconciliation: Reconciliation, max_held: int) -> Reconciliation:
    """Keep at most MAX_PER_CATEGORY of each, their corrections, some that wait, and some repetitions."""
    told = [memory for memory in reconciliation.memories if not memory.is_held]
    held = [memory for memory in reconciliation.memories if memory.is_held]
    limited_memories = [
        memory
        for category in EXTRACTED_CATEGORIES
        for memory in [m for m in told if m.category == category][:MAX_PER_CATEGORY]
    ]
    ids = {memory.id for memory in limited_memories}
    corrections = tuple(
        correction for correction in reconciliation.corrections if correction.new_id in ids
    )
    repeated_ids = reconciliation.repeated_ids[:MAX_REPEATED]
    return replace(
        reconciliation,
        memories=(*limited_memories, *held[:max_held]),
        corrections=corrections,
        repeated_ids=repeated_ids,
        released=tuple(m for m in reconciliation.released if m.id in repeated_ids),
    )


def _is_supported(answer: MemoryOutput, segments: Sequence[Segment]) -> bool:
    """Tell whether a fact is short enough and proved; one that is too long is dropped, not cut.

    A fact about the owner must rest on the owner's own words.
    """
    if not 0 <= answer.segment < len(segments):
        return False
    segment = segments[answer.segment]
    return (
        is_short_enough(answer.category, answer.content)
        and bool(normalise(answer.content))
        and bool(answer.evidence.strip())
        and answer.evidence in segment.text
        and (segment.is_user or answer.category != "system")
        and _decide_timing(answer) != "drop"
    )


def _decide_timing(answer: MemoryOutput) -> WriteTiming:
    return decide_timing(answer.timing, answer.kind, is_about_owner=answer.category == "system")


def _keep_latest(answers: Sequence[MemoryOutput]) -> list[MemoryOutput]:
    """Keep the latest of several homes, ages or names that one conversation states.

    What has to be said again elsewhere never takes the place of what is plain.
    """

    def build_order_key(answer: MemoryOutput) -> tuple[bool, int]:
        return _decide_timing(answer) != "repeat", answer.segment

    latest_by_key = {answer.stored_key: answer for answer in sorted(answers, key=build_order_key)}
    return [
        answer for answer in answers if not _is_corrected(answer, latest_by_key[answer.stored_key])
    ]


def _is_corrected(answer: MemoryOutput, latest: MemoryOutput) -> bool:
    is_exclusive = answer.stored_key is not None
    return is_exclusive and normalise(answer.content) != normalise(latest.content)


def _build_memory(
    answer: MemoryOutput, category: MemoryCategory, conversation: Conversation, ids: DerivedIds
) -> Memory:
    """Build it as it is stored now, which is the end of its conversation, or as it is held."""
    content = " ".join(answer.content.split())
    memory = Memory(
        id=MemoryId(ids.choose("memory", content)),
        content=content,
        category=category,
        created_at=conversation.finished_at,
        updated_at=conversation.finished_at,
        conversation_id=conversation.id,
        evidence=answer.evidence,
        segment=answer.segment,
        aspect=answer.stored_key,
        read_kinds=conversation.text_kinds,
    )
    return (
        memory.hold(memory.created_at + HOLD_TIME) if _decide_timing(answer) == "repeat" else memory
    )
