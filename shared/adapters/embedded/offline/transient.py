"""Transient statements: English that proves nothing lasting, by the reason why it does not.

A statement may be said for now, in jest, as an idea, as a question, as a quotation of somebody else,
or as a guess.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from shared.adapters.embedded.offline import transient_patterns as patterns
from shared.adapters.embedded.offline.speech import split_sentences
from shared.domain.value import positional_value

TransientKind = Literal["for_now", "joke", "idea", "question", "quotation", "guess"]
Line = tuple[str, str]
"""A speaker and their text."""
_MAX_CONTEXT_CHARS = 200
"""How far a sentence is read around a statement: some transcripts have no full stop."""


def classify_transient(lines: Sequence[Line], segment: int, evidence: str) -> TransientKind | None:
    """Say why words of a segment prove nothing lasting; None where they do.

    Words that occur twice count once they are said plainly.
    """
    kinds = (_classify(statement) for statement in _find_statements(lines, segment, evidence))
    first = next(kinds, None)
    return first if first and all(kinds) else None


@positional_value
class _Statement:
    """A statement from `start` to `end` of its sentence, and the sentences around it."""

    before: str
    sentence: str
    after: str
    start: int
    end: int

    @property
    def clauses(self) -> list[str]:
        """The clauses it touches, as one, then those beside it."""
        spans = split_clauses(self.sentence)
        own = [n for n, (start, end) in enumerate(spans) if start <= self.end and self.start <= end]
        if not own:  # it stands between clauses and says nothing
            return [self.sentence]
        neighbours = [n for n in (own[0] - 1, own[-1] + 1) if 0 <= n < len(spans)]
        text = self.sentence[spans[own[0]][0] : spans[own[-1]][1]]
        return [text, *(self.sentence[slice(*spans[n])] for n in neighbours)]


def split_clauses(sentence: str) -> list[tuple[int, int]]:
    """Cut a sentence at commas and conjunctions; return where each clause begins and ends."""
    cuts = list(re.finditer(patterns.CLAUSE, sentence, re.IGNORECASE))
    starts = [0, *(cut.end() for cut in cuts)]
    return list(zip(starts, [*(cut.start() for cut in cuts), len(sentence)], strict=True))


def _find_statements(lines: Sequence[Line], segment: int, evidence: str) -> Iterator[_Statement]:
    speaker, text = lines[segment]
    next_turns = lines[segment + 1 : segment + 3]
    next_turn = next((turn for other, turn in next_turns if other == speaker), "")
    sentences = split_sentences(text)
    spans = _locate(sentences, text)
    for match in re.finditer(re.escape(evidence), text):
        touched = [
            n for n, (start, end) in enumerate(spans) if start < match.end() and match.start() < end
        ]
        if not touched:
            continue
        first, last = touched[0], touched[-1]
        start = max(spans[first][0], match.start() - _MAX_CONTEXT_CHARS)
        later = [*sentences[last + 1 :], *split_sentences(next_turn)]
        yield _Statement(
            before=sentences[first - 1] if first else "",
            sentence=text[start : min(spans[last][1], match.end() + _MAX_CONTEXT_CHARS)],
            after=next((s for s in later if not _matches(patterns.LAUGH, s)), ""),
            start=max(match.start() - start, 0),
            end=match.end() - start,
        )


def _locate(sentences: Sequence[str], text: str) -> list[tuple[int, int]]:
    spans, position = [], 0
    for sentence in sentences:
        start = text.index(sentence, position)
        position = start + len(sentence)
        spans.append((start, position))
    return spans


def _classify(statement: _Statement) -> TransientKind | None:
    return next((kind for kind, applies in _RULES.items() if applies(statement)), None)


def _is_taken_back(statement: _Statement) -> bool:
    rest = statement.sentence[statement.end :].lstrip(" ,;:–—-")
    is_corrected = any(_begins(patterns.TAKEN_BACK, text) for text in (statement.after, rest))
    return is_corrected or _contains(patterns.JEST, statement.clauses[0])


def _is_for_now(statement: _Statement) -> bool:
    own, *neighbours = statement.clauses
    return _contains(patterns.FOR_NOW, own) or any(
        _matches(patterns.BARE_FOR_NOW, clause) for clause in neighbours
    )


def _is_idea(statement: _Statement) -> bool:
    is_unreal = _begins(patterns.SUPPOSED, statement.before) or _contains(
        patterns.UNREAL, statement.sentence
    )
    return is_unreal or _contains(patterns.WOULD, statement.clauses[0])


def _is_question(statement: _Statement) -> bool:
    """A statement before a question tag ("…, okay?") is no question."""
    if not statement.sentence.endswith("?"):
        return False
    stated = re.match(patterns.STATED, statement.sentence, re.IGNORECASE)
    return stated is None or stated.end() < statement.end


def _is_quotation(statement: _Statement) -> bool:
    before, after = statement.sentence[: statement.start], statement.sentence[statement.end :]
    return _contains(patterns.QUOTATION_BEFORE, before) or _begins(patterns.QUOTATION_AFTER, after)


def _is_guess(statement: _Statement) -> bool:
    own, *neighbours = statement.clauses
    return _contains(patterns.GUESS, own) or any(
        _matches(patterns.BARE_GUESS, clause) for clause in neighbours
    )


def _contains(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def _begins(pattern: str, text: str) -> bool:
    return re.match(pattern, text, re.IGNORECASE) is not None


def _matches(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern, text, re.IGNORECASE) is not None


_RULES: Mapping[TransientKind, Callable[[_Statement], bool]] = {
    "joke": _is_taken_back,
    "for_now": _is_for_now,
    "idea": _is_idea,
    "question": _is_question,
    "quotation": _is_quotation,
    "guess": _is_guess,
}
