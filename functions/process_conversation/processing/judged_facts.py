"""Judged facts: those of which the encoder finds that they tell no secret, last, are new, and that their proof is about them.

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
from functions.process_conversation.processing.passing_facts import is_passing
from functions.process_conversation.processing.read_transcript import get_language
from functions.process_conversation.processing.told_secrets import tells_secret
from shared import telemetry
from shared.data.search.question_meaning import QuestionMeanings, find_language
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import UserId
from shared.library.polarity import is_of_one_polarity
from shared.retrieval.negations import has_negation
from shared.retrieval.proof import (
    loses_negation,
    names_other_numbers,
    restore_clause,
    share_word,
)
from shared.retrieval.term_weights import list_english_terms
from shared.retrieval.terms import fold, tokenize

RELATED_BY_A_WORD = 0.78
RELATED_IN_OTHER_WORDS = 0.85
RELATED_ACROSS_LANGUAGES, RELATED_ACROSS_SCRIPTS = 0.825, 0.795
"""Cosines as of which words and a fact are of one matter: those that share a word, or none in one language, or are of two.

proofs.json of the tests says what passes: pairs in 25 languages, half of which set no figure.
"""
ENGLISH_SHARE = 0.3
MAX_POLARITY_DIFFERENCE = 0.47
"""A fact is in other words than its proof, often in another language: more than that says the opposite."""
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
    if await to_thread.run_sync(is_passing, vector):
        return "not_meant"
    before = extraction.lines[fact.segment - 1]["text"] if fact.segment else ""
    follows = await does_follow(
        extraction.deps.meanings,
        extraction.uid,
        fact.content,
        fact.evidence,
        before=before[-MAX_CHARS_BEFORE:],
        segment=extraction.lines[fact.segment]["text"],
        is_english=_is_english(extraction.conversation.language, get_language(extraction)),
    )
    return None if follows else "unproved"


async def does_follow(
    meanings: QuestionMeanings,
    uid: UserId,
    content: str,
    evidence: str,
    *,
    before: str = "",
    segment: str = "",
    is_english: bool = False,
) -> bool:
    """Tell whether a fact is of the matter of its proof, with its numbers, and both deny or neither does.

    `before` is what was said before, as "Yes, for ten years" answers something; what the proof is cut from, `segment`,
    may deny it. It `is_english` where both are said to
    be. Without an encoder numbers alone are compared. Raises ModelFailed and Unavailable.
    """
    whole = f"{before} {evidence}".strip()
    is_denied = loses_negation(evidence, segment) and not has_negation(content)
    if is_denied or names_other_numbers(whole, content):
        return False
    stated, said = [await meanings.compare(uid, text, list) for text in (content, whole)]
    if stated is None or said is None:
        return True
    if share_word(whole, content):
        least = RELATED_BY_A_WORD
    elif await to_thread.run_sync(
        _are_of_one_language, said, stated, is_english and _sounds_english(whole)
    ):
        least = RELATED_IN_OTHER_WORDS
    else:
        least = RELATED_ACROSS_LANGUAGES if _is_latin(whole) else RELATED_ACROSS_SCRIPTS
    is_related = partial(_are_near, stated, least=least)
    is_near = is_related(said)
    for words in () if is_near else _list_proofs(evidence):
        is_near = is_near or bool(await meanings.compare(uid, words, is_related))
    return is_near and await is_of_one_polarity(
        meanings, uid, restore_clause(evidence, segment), content, most=MAX_POLARITY_DIFFERENCE
    )


def _are_of_one_language(said: Vector, stated: Vector, is_english: bool) -> bool:  # noqa: FBT001 - called in a thread
    language, other = [
        find_language(each) or ("en" if is_english else None) for each in (said, stated)
    ]
    return language is not None and language == other


def _sounds_english(text: str) -> bool:
    """Tell it by small words: a recorder may say English of whatever it hears."""
    terms = tokenize(text)
    return sum(term in list_english_terms() for term in terms) >= ENGLISH_SHARE * max(1, len(terms))


def _is_english(*languages: str) -> bool:
    return all(language.lower().startswith("en") for language in languages)


def _share_proof(one: MemoryOutput, other: MemoryOutput) -> bool:
    return one.segment == other.segment and (
        one.evidence in other.evidence or other.evidence in one.evidence
    )


def _list_proofs(evidence: str) -> Sequence[str]:
    """Return the proof and its pieces."""
    words = evidence.split()
    starts = range(0, len(words) - STEP_WORDS, STEP_WORDS)[:MAX_PIECES]
    return (evidence, *(" ".join(words[n : n + PIECE_WORDS]) for n in starts))


def _is_latin(text: str) -> bool:
    letters = [letter for letter in fold(text) if letter.isalpha()]
    return sum(map(str.isascii, letters)) > len(letters) / 2


def _are_near(one: Vector, other: Vector | None, least: float) -> bool:
    """Compare by cosine."""
    if other is None:
        return False
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return product >= least * math.hypot(*one) * math.hypot(*other)
