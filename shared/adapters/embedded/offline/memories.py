"""Memories without a model: lasting facts that the owner states in the first person, in English.

Each quotes the words that it rests on. A sentence that is marked as a guess, a quotation or an idea has
none, even if another of its clauses states a fact.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from shared.adapters.embedded.offline import fact_rules
from shared.adapters.embedded.offline.speech import Sentence, split_sentences
from shared.domain.value import positional_value
from shared.library.exclusive_facts import find_exclusive_key

_MAX_FACT_WORDS = 15
_MAX_ASIDE_WORDS = 3


@positional_value
class Fact:
    """A fact in the third person, and the owner's words for it."""

    content: str
    evidence: str


def extract_memories(all_sentences: Iterable[Sentence]) -> list[dict[str, Any]]:
    """Extract facts from the owner's sentences; a transcript that marks no owner has none."""
    sentences = [sentence for sentence in all_sentences if sentence.is_user]
    texts = [sentence.text for sentence in sentences]
    return [
        _to_memory(fact, sentence)
        for sentence, next_text in zip(sentences, [*texts[1:], ""], strict=False)
        if _is_lasting(sentence.text, next_text)
        for fact in extract_facts(sentence.text)
    ]


def find_text_facts(data: Mapping[str, Any]) -> dict[str, Any]:
    """Find what a text says in the first person, which is taken for its owner's."""
    texts = split_sentences(data["text"])
    sentences = [Sentence(text=text, segment=0, is_user=True, speaker="") for text in texts]
    facts = extract_memories(sentences)
    return {"facts": [{"content": f["content"], "evidence": f["evidence"]} for f in facts]}


def _is_lasting(text: str, next_text: str) -> bool:
    """Tell whether a sentence is meant, and not taken back by itself or by the owner's next one."""
    return not (
        re.search(fact_rules.TRANSIENT, text, re.IGNORECASE)
        or re.search(rf"[,;] {fact_rules.TAKEN_BACK}", text, re.IGNORECASE)
        or re.match(fact_rules.TAKEN_BACK, next_text, re.IGNORECASE)
    )


def _to_memory(fact: Fact, sentence: Sentence) -> dict[str, Any]:
    return {
        "segment": sentence.segment,
        "evidence": fact.evidence,
        "kind": "lasting",
        "content": fact.content,
        "exclusive_key": find_exclusive_key(fact.content),
    }


def extract_facts(sentence: str) -> Iterator[Fact]:
    """Yield the facts in a sentence, one a clause."""
    text = sentence.rstrip(" .!…")
    clauses = _split_clauses(text)
    openings = [_compile_opening().match(text, start, end) for start, end in clauses]
    for n, opening in enumerate(openings):
        if opening:
            asides = _find_asides(text, clauses[n + 1 :], openings[n + 1 :])
            ends = [clauses[n][1], *asides]
            candidates = (_parse_fact(text[opening.start(1) : end]) for end in reversed(ends))
            if fact := next(filter(None, candidates), None):
                yield fact


def _split_clauses(sentence: str) -> list[tuple[int, int]]:
    """Return where each clause begins and ends."""
    cuts = list(re.finditer(fact_rules.CLAUSE, sentence, re.IGNORECASE))
    starts = [0, *(cut.end() for cut in cuts)]
    return list(zip(starts, [*(cut.start() for cut in cuts), len(sentence)], strict=True))


@cache
def _compile_opening() -> re.Pattern[str]:
    """Compile how any fact begins; group 1 is the fact."""
    facts = "|".join(re.sub(r"\((?!\?)", "(?:", pattern) for pattern, _ in fact_rules.FACTS)
    return re.compile(rf"(?:{fact_rules.OPENING})?({facts})", re.IGNORECASE)


def _find_asides(
    text: str, clauses: Sequence[tuple[int, int]], openings: Iterable[re.Match[str] | None]
) -> Iterator[int]:
    """Yield where the clauses end that continue the same thought: short, without a subject."""
    for (start, end), opening in zip(clauses, openings, strict=True):
        clause = text[start:end]
        if opening or not clause or re.match(fact_rules.OTHER_STATEMENT, clause, re.IGNORECASE):
            return
        if len(clause.split()) > _MAX_ASIDE_WORDS:
            return
        yield end


def _parse_fact(text: str) -> Fact | None:
    if text.endswith("?") or re.search(fact_rules.MOMENTARY, text, re.IGNORECASE):
        return None
    content = _restate(text)
    is_unclear = re.search(fact_rules.UNCLEAR, content, re.IGNORECASE) is not None
    if is_unclear or not 0 < len(content.split()) <= _MAX_FACT_WORDS:
        return None
    return Fact(content, text)


def _restate(text: str) -> str:
    """Put a fact into the third person; empty where no rule knows how."""
    contents = (
        re.sub(pattern, restated, text, count=1, flags=re.IGNORECASE)
        for pattern, restated in fact_rules.FACTS
        if re.match(pattern, text, re.IGNORECASE)
    )
    content = next(contents, "")
    for pattern, restated in fact_rules.PRONOUNS:
        content = re.sub(pattern, restated, content, flags=re.IGNORECASE)
    return content
