"""Which of a model's memories are kept: short, few, new, and proved by words that were said."""

from collections.abc import Iterable, Iterator, Sequence

from functions.process_conversation.answers import MemoriesAnswer, MemoryAnswer
from functions.process_conversation.identity import derived_id
from shared.domain.conversation import Conversation, Segment
from shared.domain.ids import MemoryId
from shared.domain.memory import Category, Memory
from shared.domain.words import count_words, normalise

MEMORY_WORDS = 15
EACH_CATEGORY = 2
EXTRACTED: tuple[Category, ...] = ("interesting", "system")


def memories(
    answer: MemoriesAnswer, conversation: Conversation, known: Iterable[Memory]
) -> tuple[Memory, ...]:
    """Return the memories worth storing; `known` are those of other conversations and the owner."""
    seen = {normalise(memory.content) for memory in known}
    proved = [m for m in answer.memories if _holds(m, conversation.spoken)]
    fresh = list(_new(proved, seen))
    return tuple(
        _memory(found, category, conversation)
        for category in EXTRACTED
        for found in [m for m in fresh if m.category == category][:EACH_CATEGORY]
    )


def _holds(answer: MemoryAnswer, segments: Sequence[Segment]) -> bool:
    """A fact is dropped rather than cut (it could say the opposite), and so is one without proof.

    What is said of the owner must rest on the owner's own words.
    """
    if not 0 <= answer.segment < len(segments):
        return False
    segment = segments[answer.segment]
    return (
        0 < count_words(answer.content) <= MEMORY_WORDS
        and bool(answer.evidence.strip())
        and answer.evidence in segment.text
        and (segment.is_user or answer.category != "system")
    )


def _new(answers: Iterable[MemoryAnswer], seen: set[str]) -> Iterator[MemoryAnswer]:
    for answer in answers:
        key = normalise(answer.content)
        if key and key not in seen:
            yield answer
        seen = seen | {key}


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
