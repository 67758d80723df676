"""Lasting facts that the owner said in the first person, each with the words it rests on."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from shared.adapters.embedded.offline import transient_patterns
from shared.adapters.embedded.offline.facts import LANGUAGES
from shared.adapters.embedded.offline.speech import Sentence, collect_sentences, split_words
from shared.adapters.embedded.offline.transient import passing
from shared.domain.value import positional_value

_MAX_FACT_WORDS = 15
_MAX_ASIDE_WORDS = 3


@positional_value
class Fact:
    """A fact in the third person, and the owner's words for it."""

    content: str
    evidence: str


def extract_memories(data: Mapping[str, Any]) -> dict[str, Any]:
    """Without a mark who the owner is, nobody's words are facts about them."""
    lines = {line["segment"]: (line["speaker"], line["text"]) for line in data["transcript"]}
    order = {segment: n for n, segment in enumerate(lines)}
    speaker_lines = list(lines.values())
    user_sentences = [sentence for sentence in collect_sentences(data) if sentence.is_user]
    languages = languages_of([s.text for s in user_sentences], data.get("language", ""))
    return {
        "memories": [
            _to_memory(fact, sentence)
            for sentence in user_sentences
            for fact in extract_facts(sentence.text, languages)
            if passing(speaker_lines, order[sentence.segment], fact.evidence) is None
        ]
    }


def languages_of(texts: Iterable[str], stated: str = "") -> list[str]:
    """Return the languages that are spoken, by their commonest words, or all; `stated` first."""
    said = Counter(word.lower() for text in texts for word in split_words(text))
    counts = {name: sum(said[word] for word in one.common) for name, one in LANGUAGES.items()}
    most = max(counts.values())
    first = [name for name in LANGUAGES if stated.startswith(name)]
    return list(dict.fromkeys([*first, *(name for name in counts if 2 * counts[name] >= most)]))


def extract_facts(sentence: str, languages: Iterable[str] = LANGUAGES) -> Sequence[Fact]:
    """Return the facts in a sentence, as the first of the languages tells them that knows any."""
    return next(filter(None, (list(_Rules.of(name).extract(sentence)) for name in languages)), [])


def _to_memory(fact: Fact, sentence: Sentence) -> dict[str, Any]:
    return {
        "content": fact.content,
        "category": "system",
        "segment": sentence.segment,
        "evidence": fact.evidence,
    }


class _Rules:
    """A language's patterns, compiled."""

    @staticmethod
    @cache
    def of(name: str) -> "_Rules":
        return _Rules(name)

    def __init__(self, name: str) -> None:
        language = LANGUAGES[name]
        self._facts = [(_compile(said), told) for said, told in language.facts]
        self._owns = [(_compile(said), told) for said, told in language.owns]
        begins = "|".join(re.sub(r"\((?!\?)", "(?:", said) for said, _ in language.facts)
        self._begins = _compile(rf"(?:{language.opening})?({begins})")
        self._another = _compile(language.another)
        self._momentary = _compile(language.momentary)
        self._unclear = _compile(language.unclear)

    def extract(self, sentence: str) -> Iterator[Fact]:
        text = sentence.rstrip(" .!…")
        clauses = _split_clauses(text)
        openings = [self._begins.match(text, start, end) for start, end in clauses]
        for n, opening in enumerate(openings):
            if opening:
                ends = [
                    clauses[n][1],
                    *self._find_asides(text, clauses[n + 1 :], openings[n + 1 :]),
                ]
                candidates = (
                    self._parse_fact(text[opening.start(1) : end]) for end in reversed(ends)
                )
                if fact := next(filter(None, candidates), None):
                    yield fact

    def _find_asides(
        self,
        text: str,
        clauses: Sequence[tuple[int, int]],
        openings: Iterable[re.Match[str] | None],
    ) -> Iterator[int]:
        """Yield where the clauses end that go on with the same thought: short, without a subject."""
        for (start, end), opening in zip(clauses, openings, strict=True):
            if opening or self._another.match(text, start) or end - start == 0:
                return
            if len(text[start:end].split()) > _MAX_ASIDE_WORDS:
                return
            yield end

    def _parse_fact(self, text: str) -> Fact | None:
        if self._momentary.search(text):
            return None
        contents = (
            rule.sub(replacement, text, count=1)
            for rule, replacement in self._facts
            if rule.match(text)
        )
        content = next(contents, "")
        for own, others in self._owns:
            content = own.sub(others, content)
        if not 0 < len(content.split()) <= _MAX_FACT_WORDS or self._unclear.search(content):
            return None
        return Fact(content, text)


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _split_clauses(text: str) -> list[tuple[int, int]]:
    """Cut a sentence at commas and conjunctions."""
    cuts = list(re.finditer(transient_patterns.CLAUSE, text, re.IGNORECASE))
    starts = [0, *(cut.end() for cut in cuts)]
    return list(zip(starts, [*(cut.start() for cut in cuts), len(text)], strict=True))
