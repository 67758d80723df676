"""Memories, open tasks and people that are known and near to a conversation, for the model that reads it."""

from collections.abc import Sequence
from functools import partial

from functions.process_conversation.processing.cached_completion import Extraction
from functions.process_conversation.processing.read_transcript import Known
from shared.data.conversations.long_transcripts import run_beside_the_loop
from shared.domain.conversations.conversation import Conversation
from shared.domain.memories.memory import Memory
from shared.domain.people.person import Person
from shared.library.compare_facts import select_read
from shared.library.near_memories import find_near_memories
from shared.retrieval.chunking import split_into_chunks
from shared.retrieval.term_weights import get_term_weight
from shared.retrieval.terms import tokenize

MAX_SHOWN_TASKS = 30
MAX_PEOPLE_WITH_ROLES = 200
MAX_PASSAGES = 6
"""Of a conversation, to find near memories by: each is encoded, and asks the index."""


async def find_known(
    extraction: Extraction, memories: Sequence[Memory], tasks: Sequence[str], *, may_be_more: bool
) -> Known:
    """Return what a model is shown of the newest `memories` and open `tasks`, and of others where there `may_be_more`.

    Nothing is looked for where the model `is_extractive`: it reads the transcript alone.
    """
    uid, conversation = extraction.uid, extraction.conversation
    if extraction.model.describe("reader").is_extractive:
        return Known(memories=memories)
    people = await extraction.deps.stores.people.list_with_roles(uid, limit=MAX_PEOPLE_WITH_ROLES)
    shown_memories = await _put_near_first(extraction, memories, may_be_more=may_be_more)
    return await run_beside_the_loop(
        [conversation], partial(_build_known, conversation, shown_memories, tasks, people)
    )


async def _put_near_first(
    extraction: Extraction, memories: Sequence[Memory], *, may_be_more: bool
) -> Sequence[Memory]:
    """Put those first that are near to what was said, by the encoder or by words, unless all are surely shown."""
    conversation = extraction.conversation
    read_ids = select_read(memories, extraction.model.describe("reader").window_tokens)
    if not may_be_more and len(read_ids) == len(memories):
        return memories
    passages = await run_beside_the_loop([conversation], partial(_choose_passages, conversation))
    found = await find_near_memories(extraction.deps.search, extraction.uid, passages)
    near = {memory.id: memory for memory in select_from_elsewhere(found, conversation)}
    return [*near.values(), *(memory for memory in memories if memory.id not in near)]


def _choose_passages(conversation: Conversation) -> list[str]:
    """Return of each stretch of a conversation the turn that says most."""
    texts = [chunk.text for chunk in split_into_chunks(conversation.named_segments)]
    step = max(1, -(-len(texts) // MAX_PASSAGES))
    return [max(texts[n : n + step], key=len) for n in range(0, len(texts), step)]


def _build_known(
    conversation: Conversation,
    memories: Sequence[Memory],
    tasks: Sequence[str],
    people: Sequence[Person],
) -> Known:
    """Choose the tasks that share most with what was said, else the newest, and the people who are named."""
    if len(tasks) <= MAX_SHOWN_TASKS and not people:
        return Known(memories=memories, tasks=tasks)
    spoken = frozenset(
        term for s in conversation.named_segments for term in tokenize(f"{s.speaker} {s.text}")
    )
    near_tasks = sorted(tasks, key=lambda task: -_weigh_shared(task, spoken))
    return Known(
        memories=memories,
        tasks=near_tasks[:MAX_SHOWN_TASKS],
        people=[person for person in people if _is_mentioned(person, spoken)],
    )


def _weigh_shared(text: str, spoken: frozenset[str]) -> float:
    return sum(map(get_term_weight, spoken.intersection(tokenize(text))))


def _is_mentioned(person: Person, spoken: frozenset[str]) -> bool:
    """Tell whether somebody speaks, or is called by a name of theirs or by what they are to the owner."""
    role = tokenize(person.role)
    return not spoken.isdisjoint(person.name_words) or bool(role and spoken.issuperset(role))


def select_from_elsewhere(
    known_memories: Sequence[Memory], conversation: Conversation
) -> list[Memory]:
    """Leave out what this conversation and its family gave before: it is extracted anew."""
    return [memory for memory in known_memories if not _is_extracted_anew(memory, conversation)]


def _is_extracted_anew(memory: Memory, conversation: Conversation) -> bool:
    """A memory that others repeat too stays when the rest of the family is gone."""
    if memory.is_user_owned or memory.conversation_id not in conversation.family:
        return False
    return memory.conversation_id == conversation.id or not memory.seen_in
