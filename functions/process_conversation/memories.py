"""Which of a model's memories are kept: short, few, new, and proved by words that were meant."""

from collections.abc import Sequence
from dataclasses import replace

from functions.process_conversation.answers import MemoriesAnswer, MemoryAnswer
from functions.process_conversation.identity import derived_id
from functions.process_conversation.reconcile import Candidate, Reconciled, reconcile
from shared.domain.changing import aspect
from shared.domain.conversation import Conversation, Segment
from shared.domain.ids import MemoryId
from shared.domain.memory import Category, Memory
from shared.domain.words import count_words, normalise
from shared.extraction.passing import passing

MEMORY_WORDS = 15
EACH_CATEGORY = 2
REPEATED = 20
"""So many known facts a conversation strengthens; a commit has room for 500 writes."""
EXTRACTED: tuple[Category, ...] = ("interesting", "system")


def candidates(
    answer: MemoriesAnswer, conversation: Conversation, shown: Sequence[Memory]
) -> list[Candidate]:
    """Return what is proved by words that were meant; the model was shown `shown`, in this order."""
    proved = _last_words([m for m in answer.memories if _holds(m, conversation.spoken)])
    return [
        Candidate(memory=_memory(one, category, conversation), replaces=_replaced(one, shown))
        for category in EXTRACTED
        for one in proved
        if one.category == category
    ]


def memories(found: Sequence[Candidate], known: Sequence[Memory]) -> Reconciled:
    """Decide what is worth storing; `known` are memories of other conversations and the owner."""
    return bounded(reconcile(found, known))


def bounded(found: Reconciled) -> Reconciled:
    """Keep at most EACH_CATEGORY of each, the corrections that those make, and some repetitions."""
    kept = [
        memory
        for category in EXTRACTED
        for memory in [m for m in found.memories if m.category == category][:EACH_CATEGORY]
    ]
    ids = {memory.id for memory in kept}
    corrections = tuple(one for one in found.corrections if one.new in ids)
    return replace(
        found,
        memories=tuple(kept),
        corrections=corrections,
        repeated=found.repeated[:REPEATED],
    )


def _replaced(answer: MemoryAnswer, shown: Sequence[Memory]) -> MemoryId | None:
    if answer.replaces is None or not 0 <= answer.replaces < len(shown):
        return None
    return shown[answer.replaces].id


def _holds(answer: MemoryAnswer, segments: Sequence[Segment]) -> bool:
    """A fact is dropped rather than cut (it could say the opposite), and so is one without proof.

    What is said of the owner must rest on the owner's own words.
    """
    if not 0 <= answer.segment < len(segments):
        return False
    segment = segments[answer.segment]
    return (
        0 < count_words(answer.content) <= MEMORY_WORDS
        and bool(normalise(answer.content))
        and bool(answer.evidence.strip())
        and answer.evidence in segment.text
        and (segment.is_user or answer.category != "system")
        and _is_meant(answer, segments)
    )


def _is_meant(answer: MemoryAnswer, segments: Sequence[Segment]) -> bool:
    """What somebody is quoted to have said is nothing about the owner, yet worth passing on."""
    said = [(segment.speaker, segment.text) for segment in segments]
    reason = passing(said, answer.segment, answer.evidence)
    return reason is None or (reason == "quotation" and answer.category != "system")


def _last_words(answers: Sequence[MemoryAnswer]) -> list[MemoryAnswer]:
    """Of two homes, ages or names that one conversation tells, the later holds."""
    last = {aspect(m.content): m for m in sorted(answers, key=lambda m: m.segment)}
    return [m for m in answers if not _is_corrected(m, last.get(aspect(m.content)))]


def _is_corrected(answer: MemoryAnswer, last: MemoryAnswer | None) -> bool:
    if last is None or aspect(answer.content) is None:
        return False
    return normalise(answer.content) != normalise(last.content)


def _memory(answer: MemoryAnswer, category: Category, conversation: Conversation) -> Memory:
    content = " ".join(answer.content.split())
    return Memory(
        id=MemoryId(derived_id(conversation.id, "memory", content)),
        content=content,
        category=category,
        created_at=conversation.finished_at,
        updated_at=conversation.finished_at,
        conversation_id=conversation.id,
        evidence=answer.evidence,
        segment=answer.segment,
    )
