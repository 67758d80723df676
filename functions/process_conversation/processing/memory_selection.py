"""Which of a model's memories are kept: short, few, new, and proved by words that were meant."""

from collections.abc import Sequence
from dataclasses import replace

from functions.process_conversation.processing.model_outputs import MemoriesOutput, MemoryOutput
from shared.adapters.embedded.offline.transient import passing
from shared.domain.changing import find_exclusive_key
from shared.domain.conversation import Conversation, Segment
from shared.domain.ids import MemoryId
from shared.domain.memory import Memory, MemoryCategory
from shared.domain.words import count_words, normalise
from shared.library.derived_ids import build_derived_id
from shared.library.reconcile import Candidate, Reconciliation, reconcile

MAX_MEMORY_WORDS = 15
MAX_PER_CATEGORY = 2
MAX_REPEATED = 20
"""So many known facts a conversation strengthens; a commit has room for 500 writes."""
EXTRACTED_CATEGORIES: tuple[MemoryCategory, ...] = ("interesting", "system")


def select_candidates(
    answer: MemoriesOutput, conversation: Conversation, shown_memories: Sequence[Memory]
) -> list[Candidate]:
    """Return what is proved by words that were meant; the model was shown `shown`, in this order."""
    supported_facts = _keep_latest(
        [m for m in answer.memories if _is_supported(m, conversation.named_segments)]
    )
    return [
        Candidate(
            memory=_build_memory(fact, category, conversation),
            replaced_id=_find_replaced_id(fact, shown_memories),
        )
        for category in EXTRACTED_CATEGORIES
        for fact in supported_facts
        if fact.category == category
    ]


def decide_memories(
    candidates: Sequence[Candidate], known_memories: Sequence[Memory]
) -> Reconciliation:
    """Decide what is worth storing; `known` are memories of other conversations and the owner."""
    return limit_count(reconcile(candidates, known_memories))


def limit_count(reconciliation: Reconciliation) -> Reconciliation:
    """Keep at most EACH_CATEGORY of each, the corrections that those make, and some repetitions."""
    limited_memories = [
        memory
        for category in EXTRACTED_CATEGORIES
        for memory in [m for m in reconciliation.memories if m.category == category][
            :MAX_PER_CATEGORY
        ]
    ]
    ids = {memory.id for memory in limited_memories}
    corrections = tuple(
        correction for correction in reconciliation.corrections if correction.new_id in ids
    )
    return replace(
        reconciliation,
        memories=tuple(limited_memories),
        corrections=corrections,
        repeated_ids=reconciliation.repeated_ids[:MAX_REPEATED],
    )


def _find_replaced_id(answer: MemoryOutput, shown_memories: Sequence[Memory]) -> MemoryId | None:
    if answer.replaces is None or not 0 <= answer.replaces < len(shown_memories):
        return None
    return shown_memories[answer.replaces].id


def _is_supported(answer: MemoryOutput, segments: Sequence[Segment]) -> bool:
    """A fact is dropped rather than cut (it could say the opposite), and so is one without proof.

    What is said of the owner must rest on the owner's own words.
    """
    if not 0 <= answer.segment < len(segments):
        return False
    segment = segments[answer.segment]
    return (
        0 < count_words(answer.content) <= MAX_MEMORY_WORDS
        and bool(normalise(answer.content))
        and bool(answer.evidence.strip())
        and answer.evidence in segment.text
        and (segment.is_user or answer.category != "system")
        and _is_literal(answer, segments)
    )


def _is_literal(answer: MemoryOutput, segments: Sequence[Segment]) -> bool:
    """What somebody is quoted to have said is nothing about the owner, yet worth passing on."""
    turns = [(segment.speaker, segment.text) for segment in segments]
    reason = passing(turns, answer.segment, answer.evidence)
    return reason is None or (reason == "quotation" and answer.category != "system")


def _keep_latest(answers: Sequence[MemoryOutput]) -> list[MemoryOutput]:
    """Of two homes, ages or names that one conversation tells, the later holds."""
    latest_by_key = {
        find_exclusive_key(m.content): m for m in sorted(answers, key=lambda m: m.segment)
    }
    return [
        m for m in answers if not _is_corrected(m, latest_by_key.get(find_exclusive_key(m.content)))
    ]


def _is_corrected(answer: MemoryOutput, latest: MemoryOutput | None) -> bool:
    if latest is None or find_exclusive_key(answer.content) is None:
        return False
    return normalise(answer.content) != normalise(latest.content)


def _build_memory(
    answer: MemoryOutput, category: MemoryCategory, conversation: Conversation
) -> Memory:
    content = " ".join(answer.content.split())
    return Memory(
        id=MemoryId(build_derived_id(conversation.id, "memory", content)),
        content=content,
        category=category,
        created_at=conversation.finished_at,
        updated_at=conversation.finished_at,
        conversation_id=conversation.id,
        evidence=answer.evidence,
        segment=answer.segment,
    )
