"""What a new fact means beside what is known: news, a repetition, or a correction; pure.

Newer words win, whichever conversation is processed first; the owner's own words win over both.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from shared.domain.ids import MemoryId
from shared.domain.memory import Memory
from shared.domain.value import value
from shared.domain.words import normalise


@value
class Candidate:
    """A fact that was said; `replaces` is what the model takes it to correct."""

    memory: Memory
    replaces: MemoryId | None = None


@value
class Correction:
    """The memory `old` is no longer true since `new` was said, at `at` in UTC."""

    old: Memory
    new: MemoryId
    at: datetime


@value
class Reconciled:
    """`memories` are to be stored, some as superseded already; `repeated` were said again."""

    memories: tuple[Memory, ...] = ()
    repeated: tuple[MemoryId, ...] = ()
    corrections: tuple[Correction, ...] = ()


def reconcile(candidates: Iterable[Candidate], known: Sequence[Memory]) -> Reconciled:
    """Decide on each candidate in turn; `known` are current memories from elsewhere."""
    outcome = Reconciled()
    for candidate in candidates:
        outcome = _decided(outcome, candidate, known)
    return outcome


def _decided(outcome: Reconciled, candidate: Candidate, known: Sequence[Memory]) -> Reconciled:
    new = candidate.memory
    same = [memory for memory in known if _says_same(memory, new)]
    if same:
        repeated = dict.fromkeys([*outcome.repeated, *(memory.id for memory in same)])
        return replace(outcome, repeated=tuple(repeated))
    if any(_says_same(memory, new) for memory in outcome.memories):
        return outcome
    rivals = [memory for memory in known if _is_rival(memory, candidate)]
    if any(memory.is_owners for memory in rivals):
        return outcome
    newer = max((m for m in rivals if m.created_at > new.created_at), key=_age, default=None)
    if newer is not None:
        new = replace(new, valid_to=newer.created_at, superseded_by=newer.id)
        return replace(outcome, memories=(*outcome.memories, new))
    corrected = [Correction(old=memory, new=new.id, at=new.created_at) for memory in rivals]
    return replace(
        outcome,
        memories=(*outcome.memories, new),
        corrections=(*outcome.corrections, *corrected),
    )


def _age(memory: Memory) -> tuple[float, str]:
    return -memory.created_at.timestamp(), memory.id


def _says_same(one: Memory, other: Memory) -> bool:
    return normalise(one.content) == normalise(other.content)


def _is_rival(memory: Memory, candidate: Candidate) -> bool:
    """Both cannot be true at once: the model says so, or it is a thing one has only one of.

    What an app wrote later never stands against what was said.
    """
    if memory.app_id is not None and memory.created_at > candidate.memory.created_at:
        return False
    if memory.id == candidate.replaces:
        return True
    about = memory.aspect
    return about is not None and about == candidate.memory.aspect
