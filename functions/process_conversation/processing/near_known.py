"""Memories, open tasks and people that are known and near to a conversation, for the model that reads it."""

from collections.abc import Sequence

from functions.process_conversation.processing.cached_completion import Extraction
from functions.process_conversation.processing.read_transcript import Known
from shared.data.conversations.long_transcripts import run_beside_the_loop
from shared.domain.conversations.conversation import Conversation
from shared.domain.memories.memory import Memory
from shared.domain.people.person import Person
from shared.domain.store.vectors import Hit
from shared.library.compare_facts import select_read
from shared.library.near_memories import find_near_memories
from shared.retrieval.chunking import split_into_chunks
from shared.retrieval.fusion import fuse_scores
from shared.retrieval.term_weights import get_term_weight
from shared.retrieval.terms import tokenize

Terms = frozenset[str]
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
    read_ids = select_read(memories, extraction.model.describe("reader").window_tokens)
    are_shown = not may_be_more and len(read_ids) == len(memories)
    if are_shown and len(tasks) <= MAX_SHOWN_TASKS and not people:
        return Known(memories=memories, tasks=tasks)
    passages, spoken = await run_beside_the_loop(
        [conversation], lambda: (_choose_passages(conversation), _list_spoken_terms(conversation))
    )
    return Known(
        memories=memories if are_shown else await _put_near_first(extraction, memories, passages),
        tasks=await _select_near_tasks(extraction, tasks, passages, spoken),
        people=[person for person in people if _is_mentioned(person, spoken)],
    )


async def _put_near_first(
    extraction: Extraction, memories: Sequence[Memory], passages: Sequence[str]
) -> Sequence[Memory]:
    """Put those first that are near to what was said, by the encoder and by words."""
    found = await find_near_memories(extraction.deps.search, extraction.uid, passages)
    near = {memory.id: memory for memory in select_from_elsewhere(found, extraction.conversation)}
    return [*near.values(), *(memory for memory in memories if memory.id not in near)]


async def _select_near_tasks(
    extraction: Extraction, tasks: Sequence[str], passages: Sequence[str], spoken: Terms
) -> Sequence[str]:
    """Return the tasks nearest to what was said, as a search finds: by meaning and words together, else the newest.

    Where no encoder answers words alone choose.
    """
    if len(tasks) <= MAX_SHOWN_TASKS:
        return tasks
    distinct = [*dict.fromkeys(tasks)]
    nearness = await extraction.deps.search.measure_nearness(extraction.uid, distinct, passages)
    by_words = [Hit(id=task, score=_weigh_shared(task, spoken), metadata={}) for task in distinct]
    by_meaning = [
        Hit(id=task, score=near, metadata={})
        for task, near in zip(distinct, nearness, strict=False)
    ]
    ranked = fuse_scores(by_words, by_meaning, limit=len(distinct))
    return [hit.id for hit in sorted(ranked, key=lambda hit: -hit.score)][:MAX_SHOWN_TASKS]


def _choose_passages(conversation: Conversation) -> list[str]:
    """Return of each stretch of a conversation the turn that says most."""
    texts = [chunk.text for chunk in split_into_chunks(conversation.named_segments)]
    step = max(1, -(-len(texts) // MAX_PASSAGES))
    return [max(texts[n : n + step], key=len) for n in range(0, len(texts), step)]


def _list_spoken_terms(conversation: Conversation) -> Terms:
    return frozenset(
        term for s in conversation.named_segments for term in tokenize(f"{s.speaker} {s.text}")
    )


def _weigh_shared(text: str, spoken: Terms) -> float:
    return sum(map(get_term_weight, spoken.intersection(tokenize(text))))


def _is_mentioned(person: Person, spoken: Terms) -> bool:
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
