"""Reconcile: the deduplication and correction of memories, new facts against known ones; pure.

Newer words win, whichever conversation is processed first; what the user wrote wins over both.

Also called: dedupe, conflict resolution, near duplicates, last write wins.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import product

from shared.domain.ids import MemoryId
from shared.domain.memories.memory import Memory
from shared.domain.value import value
from shared.library.fact_words import say_the_same


@value
class Candidate:
    """A fact that was said.

    By the model's judgement it corrects the memory `replaced_id`, or says in other words what the
    memory `repeated_id` says.
    """

    memory: Memory
    replaced_id: MemoryId | None = None
    repeated_id: MemoryId | None = None


@value
class Correction:
    """The memory `old` is untrue since the memory `new_id` was said, at `corrected_at` in UTC."""

    old: Memory
    new_id: MemoryId
    corrected_at: datetime


@value
class Reconciliation:
    """`memories` are to be stored, some already superseded; `repeated_ids` are known and repeated.

    `released` are those of them that were held, as they are from now on.
    """

    memories: tuple[Memory, ...] = ()
    repeated_ids: tuple[MemoryId, ...] = ()
    released: tuple[Memory, ...] = ()
    corrections: tuple[Correction, ...] = ()


def reconcile(candidates: Iterable[Candidate], known_memories: Sequence[Memory]) -> Reconciliation:
    """Decide on each candidate in turn; `known_memories` are current or held, from other conversations."""
    outcome = Reconciliation()
    for candidate in candidates:
        outcome = _decide(outcome, candidate, known_memories)
    released = (m.release() for m in known_memories if m.is_held and m.id in outcome.repeated_ids)
    return replace(outcome, released=tuple(released))


def settle(written: Iterable[Memory], rivals: Iterable[Memory]) -> list[Correction]:
    """Decide between current memories that several conversations stored at the same moment.

    Of facts that contradict each other the newer stays, of a fact that was said twice the older.
    """
    corrections: dict[MemoryId, Correction] = {}
    for memory, rival in product(written, rivals):
        if correction := _choose(memory, rival):
            known = corrections.get(correction.old.id, correction)
            corrections[correction.old.id] = min(known, correction, key=_build_order_key)
    return list(corrections.values())


def _choose(memory: Memory, rival: Memory) -> Correction | None:
    """Return which of two takes the other's place; None where both may stay."""
    is_repeated = _is_same_fact(memory, rival)
    if memory.is_user_owned and rival.is_user_owned:
        return None
    if not is_repeated and not _contradicts(rival, Candidate(memory=memory)):
        return None
    older, newer = sorted((memory, rival), key=lambda each: (each.created_at, each.id))
    is_older_kept = older.is_user_owned or (is_repeated and not newer.is_user_owned)
    kept, old = (older, newer) if is_older_kept else (newer, older)
    return Correction(old=old, new_id=kept.id, corrected_at=newer.created_at)


def _build_order_key(correction: Correction) -> tuple[datetime, str]:
    return correction.corrected_at, correction.new_id


def _decide(
    outcome: Reconciliation, candidate: Candidate, known_memories: Sequence[Memory]
) -> Reconciliation:
    new = candidate.memory
    same = [memory for memory in known_memories if _is_repeated(memory, candidate)]
    if same:
        same_ids = [memory.id for memory in same if memory.is_current] or [same[0].id]
        repeated_ids = dict.fromkeys([*outcome.repeated_ids, *same_ids])
        return replace(outcome, repeated_ids=tuple(repeated_ids))
    if any(_is_same_fact(memory, new) for memory in outcome.memories):
        return outcome
    if new.is_held:
        return replace(outcome, memories=(*outcome.memories, new))
    rivals = [m for m in known_memories if m.is_current and _contradicts(m, candidate)]
    if any(memory.is_user_owned for memory in rivals):
        return outcome
    return _supersede(outcome, new, rivals)


def _supersede(outcome: Reconciliation, new: Memory, rivals: Sequence[Memory]) -> Reconciliation:
    """Correct the rivals; a fact older than one of them is stored as superseded by it."""
    newer_rivals = [memory for memory in rivals if memory.created_at > new.created_at]
    if newer_rivals:
        next_newer = max(newer_rivals, key=_build_age_key)
        new = replace(new, valid_to=next_newer.created_at, superseded_by=next_newer.id)
        return replace(outcome, memories=(*outcome.memories, new))
    corrections = [
        Correction(old=memory, new_id=new.id, corrected_at=new.created_at) for memory in rivals
    ]
    return replace(
        outcome,
        memories=(*outcome.memories, new),
        corrections=(*outcome.corrections, *corrections),
    )


def _build_age_key(memory: Memory) -> tuple[float, str]:
    return -memory.created_at.timestamp(), memory.id


def _is_repeated(memory: Memory, candidate: Candidate) -> bool:
    """Tell whether a fact is known: by its words, or by the model's judgement in others.

    Of facts of which only one can be true, the newer words take the place of the older ones instead.
    """
    if _is_same_fact(memory, candidate.memory):
        return True
    is_exclusive = memory.aspect is not None or candidate.memory.aspect is not None
    is_named = memory.id == candidate.repeated_id != candidate.replaced_id
    return is_named and not is_exclusive


def _is_same_fact(first: Memory, second: Memory) -> bool:
    return say_the_same(first.content, second.content)


def _contradicts(memory: Memory, candidate: Candidate) -> bool:
    """Tell whether both cannot be true: by the model's judgement, or by an equal exclusive key.

    What an app wrote later never contradicts what was said.
    """
    if memory.app_id is not None and memory.created_at > candidate.memory.created_at:
        return False
    if memory.id == candidate.replaced_id:
        return True
    exclusive_key = memory.aspect
    return exclusive_key is not None and exclusive_key == candidate.memory.aspect
