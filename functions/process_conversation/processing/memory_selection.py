"""Memory selection: the model's memories that are stored.

They are short, few and new, and rest on words of the transcript that were meant to last.

Also called: fact extraction, memory extraction.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from functions.process_conversation.processing.examples import quotes_example
from functions.process_conversation.processing.model_outputs import NOWHERE, MemoryOutput
from functions.process_conversation.processing.task_owner import find_own_places
from shared.domain.conversations.conversation import Conversation, Segment
from shared.domain.conversations.derived_ids import DerivedIds
from shared.domain.ids import MemoryId
from shared.domain.memories.memory import HOLD_TIME, Memory, MemoryCategory, is_short_enough
from shared.domain.value import value
from shared.domain.words import normalise
from shared.library.reconcile import Candidate, Reconciliation, reconcile
from shared.retrieval.passages import find_quoted, weigh_quotation
from shared.security.private_data import has_secret

MAX_PER_CATEGORY = 2
MAX_HELD_PER_CONVERSATION = 2
MAX_HELD = 50
"""How many facts of a user wait for another conversation at a time; no more are added."""
MAX_REPEATED = 20
"""How many known facts a conversation may repeat: a commit holds at most 500 writes."""
MAX_TURNS_APART = 6
"""So far from the segment that a model names its proof is looked for."""
ROOM_TO_GO_ON = 100
"""Characters: a proof that goes on in later turns takes at most these and twice its own."""
MIN_PROOF_WEIGHT = 6
"""Three words, or six characters in scripts without spaces; of a shorter segment all of it is enough."""
DropReason = Literal[
    "not_meant", "empty", "unproved", "secret", "example", "long", "repeated", "unread"
]
"""Of what a model wanted to remember; `unread` counts the parts of a transcript whose facts came malformed."""
EXTRACTED_CATEGORIES: tuple[MemoryCategory, ...] = ("interesting", "system")


@value
class Sifted:
    """Facts that may be stored, and how many were dropped for which reason."""

    facts: tuple[MemoryOutput, ...]
    dropped: Mapping[DropReason, int]


def sift_facts(
    answers: Sequence[MemoryOutput], conversation: Conversation, own_names: Iterable[str] = ()
) -> Sifted:
    """Keep what is meant to last and proved, with its proof as the transcript has it; of any length."""
    segments = conversation.named_segments
    own_places = find_own_places(conversation, own_names)
    facts: list[MemoryOutput] = []
    dropped: Counter[DropReason] = Counter()
    for answer in answers:
        proof = find_proof(answer, segments, own_places)
        if reason := _find_fault(answer, proof, conversation):
            dropped[reason] += 1
        elif proof is not None:
            place, evidence = proof
            facts.append(answer.model_copy(update={"segment": place, "evidence": evidence}))
    return Sifted(facts=tuple(facts), dropped=dropped)


def find_proof(
    answer: MemoryOutput, segments: Sequence[Segment], own_places: Container[int]
) -> tuple[int, str] | None:
    """Return the segment where the words of a proof begin, nearest to the one that is named, and them as they were said.

    Models count segments badly, and a sentence may go on in the speaker's next one. What a fact about the
    owner rests on was said by the owner.
    """
    first, last = answer.segment - MAX_TURNS_APART, answer.segment + MAX_TURNS_APART
    if answer.segment == NOWHERE:
        first, last = 0, len(segments)
    near = range(max(first, 0), min(last + 1, len(segments)))
    may_prove = {n for n in near if answer.category != "system" or n in own_places}
    for n in sorted(may_prove, key=lambda place: abs(place - answer.segment)):
        following = (m for m in range(n, n + 2 * MAX_TURNS_APART + 1) if m in may_prove)
        turns = [segments[m] for m in following if segments[m].speaker == segments[n].speaker]
        whole = " ".join(turn.text for turn in turns)
        end = whole.find(" ", len(turns[0].text) + 2 * len(answer.evidence) + ROOM_TO_GO_ON)
        text = whole if end < 0 else whole[:end]
        span = find_quoted(answer.evidence, text)
        if span and span[0] < len(turns[0].text):
            passage = text[slice(*span)]
            if _is_long_enough(passage, turns[0].text):
                return n, passage
    return None


def _is_long_enough(passage: str, text: str) -> bool:
    return weigh_quotation(passage) >= min(MIN_PROOF_WEIGHT, weigh_quotation(text))


def _find_fault(
    answer: MemoryOutput, proof: tuple[int, str] | None, conversation: Conversation
) -> DropReason | None:
    if answer.timing == "drop":
        return "not_meant"
    if fault := find_content_fault(answer.content, conversation):
        return fault
    if proof is None:
        return "unproved"
    return "secret" if has_secret(proof[1]) else None


def find_content_fault(content: str, conversation: Conversation) -> DropReason | None:
    """Return why the words of a fact may not be stored, whatever their length and proof."""
    if not normalise(content):
        return "empty"
    if has_secret(content):
        return "secret"
    spoken = (segment.text for segment in conversation.transcript_segments)
    return "example" if quotes_example(content, spoken) else None


def select_candidates(
    facts: Sequence[MemoryOutput], conversation: Conversation, ids: DerivedIds
) -> list[Candidate]:
    """Return proved facts that are short enough, without those that the conversation itself corrects."""
    short_facts = [fact for fact in facts if is_short_enough(fact.category, fact.content)]
    latest_facts = _keep_latest(short_facts)
    return [
        Candidate(
            memory=_build_memory(fact, conversation, ids),
            replaced_id=fact.replaced_id,
            repeated_id=fact.repeated_id,
        )
        for category in EXTRACTED_CATEGORIES
        for fact in latest_facts
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


def _keep_latest(answers: Sequence[MemoryOutput]) -> list[MemoryOutput]:
    """Keep the latest of several homes, ages or names that one conversation states.

    What has to be said again elsewhere never takes the place of what is plain.
    """

    def build_order_key(answer: MemoryOutput) -> tuple[bool, int]:
        return answer.timing != "repeat", answer.segment

    latest_by_key = {answer.stored_key: answer for answer in sorted(answers, key=build_order_key)}
    return [
        answer for answer in answers if not _is_corrected(answer, latest_by_key[answer.stored_key])
    ]


def _is_corrected(answer: MemoryOutput, latest: MemoryOutput) -> bool:
    is_exclusive = answer.stored_key is not None
    return is_exclusive and normalise(answer.content) != normalise(latest.content)


def _build_memory(answer: MemoryOutput, conversation: Conversation, ids: DerivedIds) -> Memory:
    """Build it as it is stored now, which is the end of its conversation, or as it is held."""
    content = " ".join(answer.content.split())
    memory = Memory(
        id=MemoryId(ids.choose("memory", content)),
        content=content,
        category=answer.category,
        created_at=conversation.finished_at,
        updated_at=conversation.finished_at,
        conversation_id=conversation.id,
        evidence=answer.evidence,
        segment=answer.segment,
        aspect=answer.stored_key,
        read_kinds=conversation.text_kinds,
    )
    return memory.hold(memory.created_at + HOLD_TIME) if answer.timing == "repeat" else memory
