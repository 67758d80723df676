"""Judged facts: those of which the encoder finds that they tell no secret, are new, and that their proof is about them.

A password may be told in words that no pattern knows, and a model may quote what was said for a fact that it made up.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import partial

from anyio import to_thread

from functions.process_conversation.processing.cached_completion import Extraction
from functions.process_conversation.processing.memory_selection import DropReason, Sifted
from functions.process_conversation.processing.model_outputs import MemoryOutput
from functions.process_conversation.processing.told_secrets import tells_secret
from shared import telemetry
from shared.domain.errors import ModelFailed, Unavailable
from shared.retrieval.terms import fold

RELATED, RELATED_ACROSS_SCRIPTS = 0.825, 0.795
"""Cosines as of which words and a fact are of one matter, of which the encoder is less sure where words are not in Latin letters.

Of 52 pairs that are of one, in 18 languages, the least have 0.83 and 0.80; of those that are not, nine in ten have less.
"""
SAME = 0.96
"""Cosine as of which two facts with one proof say the same."""
MAX_CHARS_BEFORE = 200
PIECE_WORDS, STEP_WORDS, MAX_PIECES = 10, 5, 24
"""Pieces of a long proof, each of which begins in the middle of the one before: of many matters it is near to none."""
Vector = Sequence[float]


async def judge_facts(extraction: Extraction, sifted: Sifted) -> Sifted:
    """Return the facts that pass; all where the encoder is away: patterns and words were compared."""
    dropped: Counter[DropReason] = Counter(sifted.dropped)
    kept: list[tuple[MemoryOutput, Vector | None]] = []
    try:
        for fact in sifted.facts:
            vector = await extraction.deps.meanings.compare(extraction.uid, fact.content, list)
            if fault := await _find_fault(extraction, fact, vector, kept):
                dropped[fault] += 1
            else:
                kept.append((fact, vector))
    except (ModelFailed, Unavailable) as error:
        telemetry.warning("facts_not_judged", error=type(error).__name__)
        return sifted
    return Sifted(facts=tuple(fact for fact, _ in kept), dropped=dropped)


async def _find_fault(
    extraction: Extraction,
    fact: MemoryOutput,
    vector: Vector | None,
    kept: Sequence[tuple[MemoryOutput, Vector | None]],
) -> DropReason | None:
    if vector is None:
        return None
    if await to_thread.run_sync(tells_secret, vector):
        return "secret"
    if any(_share_proof(fact, known) and _are_near(vector, other, SAME) for known, other in kept):
        return "repeated"
    if extraction.model.describe("reader").is_extractive:  # its facts are made of their proof
        return None
    least = RELATED if _is_latin(fact.evidence) else RELATED_ACROSS_SCRIPTS
    is_related = partial(_are_near, vector, least=least)
    for words in _list_proofs(extraction, fact):
        if await extraction.deps.meanings.compare(extraction.uid, words, is_related):
            return None
    return "unproved"


def _share_proof(one: MemoryOutput, other: MemoryOutput) -> bool:
    return one.segment == other.segment and (
        one.evidence in other.evidence or other.evidence in one.evidence
    )


def _list_proofs(extraction: Extraction, fact: MemoryOutput) -> Sequence[str]:
    """Return the proof, the proof behind what was said before it, as "Yes, for ten years" answers something, and its pieces."""
    before = extraction.lines[fact.segment - 1]["text"] if fact.segment else ""
    words = fact.evidence.split()
    starts = range(0, len(words) - STEP_WORDS, STEP_WORDS)[:MAX_PIECES]
    pieces = [" ".join(words[n : n + PIECE_WORDS]) for n in starts]
    return (fact.evidence, f"{before[-MAX_CHARS_BEFORE:]} {fact.evidence}", *pieces)


def _is_latin(text: str) -> bool:
    letters = [letter for letter in fold(text) if letter.isalpha()]
    return sum(map(str.isascii, letters)) > len(letters) / 2


def _are_near(one: Vector, other: Vector | None, least: float) -> bool:
    """Compare by cosine."""
    if other is None:
        return False
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return product >= least * math.hypot(*one) * math.hypot(*other)
