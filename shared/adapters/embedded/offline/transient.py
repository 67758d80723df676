"""Which words prove nothing lasting: said for now, in jest, as an idea, a question, a quotation, a guess.

The rules know English, German, French, Spanish and Italian.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from shared.adapters.embedded.offline import transient_patterns
from shared.adapters.embedded.offline.speech import split_sentences
from shared.domain.value import positional_value

Reason = Literal["taken back", "for now", "idea", "question", "quotation", "guess"]
Line = tuple[str, str]
"""Who speaks, and what they say."""
_SENTENCE_CHARS = 200
"""So far before and after a quotation its sentence is read: some transcripts know no full stop."""


def passing(lines: Sequence[Line], segment: int, evidence: str) -> Reason | None:
    """Say why words of a segment prove nothing lasting; None where they do.

    Words that are said twice count once they are said plainly.
    """
    reasons = (_reason(place) for place in _places(lines, segment, evidence))
    first = next(reasons, None)
    return first if first and all(reasons) else None


@positional_value
class _Place:
    """A quotation where it stands: its sentence with the ones around, and its own clause."""

    before: str
    sentence: str
    after: str
    start: int
    end: int

    @property
    def clauses(self) -> list[str]:
        """The clauses that it touches, in one, and beside it those that say nothing else."""
        spans = _spans(self.sentence)
        own = [n for n, (start, end) in enumerate(spans) if start <= self.end and self.start <= end]
        if not own:  # what is quoted stands between clauses and says nothing
            return [self.sentence]
        beside = [n for n in (own[0] - 1, own[-1] + 1) if 0 <= n < len(spans)]
        text = self.sentence[spans[own[0]][0] : spans[own[-1]][1]]
        return [text, *(self.sentence[slice(*spans[n])] for n in beside)]


def _places(lines: Sequence[Line], segment: int, evidence: str) -> Iterator[_Place]:
    """Find the sentences that a quotation touches, with those before and after it."""
    speaker, text = lines[segment]
    answer = next((said for who, said in lines[segment + 1 : segment + 3] if who == speaker), "")
    said = split_sentences(text)
    spans = _spans_of(said, text)
    for found in re.finditer(re.escape(evidence), text):
        own = [
            n for n, (start, end) in enumerate(spans) if start < found.end() and found.start() < end
        ]
        if own:
            start = max(spans[own[0]][0], found.start() - _SENTENCE_CHARS)
            end = min(spans[own[-1]][1], found.end() + _SENTENCE_CHARS)
            later = [*said[own[-1] + 1 :], *split_sentences(answer)]
            yield _Place(
                said[own[0] - 1] if own[0] else "",
                text[start:end],
                next((s for s in later if not _is(transient_patterns.LAUGH, s)), ""),
                max(found.start() - start, 0),
                found.end() - start,
            )


def _spans_of(said: Sequence[str], text: str) -> list[tuple[int, int]]:
    spans, position = [], 0
    for sentence in said:
        start = text.index(sentence, position)
        position = start + len(sentence)
        spans.append((start, position))
    return spans


def _spans(sentence: str) -> list[tuple[int, int]]:
    """Cut a sentence at commas and conjunctions."""
    cuts = list(re.finditer(transient_patterns.CLAUSE, sentence, re.IGNORECASE))
    starts = [0, *(cut.end() for cut in cuts)]
    return list(zip(starts, [*(cut.start() for cut in cuts), len(sentence)], strict=True))


def _reason(place: _Place) -> Reason | None:
    return next((reason for reason, holds in _REASONS.items() if holds(place)), None)


def _is_taken_back(place: _Place) -> bool:
    rest = place.sentence[place.end :].lstrip(" ,;:–—-")
    corrected = _begins(transient_patterns.TAKEN_BACK, place.after) or _begins(
        transient_patterns.TAKEN_BACK, rest
    )
    return corrected or _has(transient_patterns.JEST, place.clauses[0])


def _is_for_now(place: _Place) -> bool:
    own, *beside = place.clauses
    return _has(transient_patterns.FOR_NOW, own) or any(
        _is(transient_patterns.BARE_FOR_NOW, one) for one in beside
    )


def _is_idea(place: _Place) -> bool:
    unreal = _begins(transient_patterns.SUPPOSED, place.before) or _has(
        transient_patterns.UNREAL, place.sentence
    )
    return unreal or _has(transient_patterns.WOULD, place.clauses[0])


def _is_asked(place: _Place) -> bool:
    """A statement that ends in a question of its own ("…, okay?") is none."""
    if not place.sentence.endswith("?"):
        return False
    if "¿" in place.sentence:
        return place.sentence.index("¿") < place.end
    stated = re.match(transient_patterns.STATED, place.sentence, re.IGNORECASE)
    return stated is None or stated.end() < place.end


def _is_quoted(place: _Place) -> bool:
    sentence, start, end = place.sentence, place.start, place.end
    return _has(transient_patterns.SAYS, sentence[:start]) or _begins(
        transient_patterns.SAID, sentence[end:]
    )


def _is_guess(place: _Place) -> bool:
    own, *beside = place.clauses
    return _has(transient_patterns.GUESS, own) or any(
        _is(transient_patterns.BARE_GUESS, one) for one in beside
    )


def _has(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def _begins(pattern: str, text: str) -> bool:
    return re.match(pattern, text, re.IGNORECASE) is not None


def _is(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern, text, re.IGNORECASE) is not None


_REASONS: Mapping[Reason, Callable[[_Place], bool]] = {
    "taken back": _is_taken_back,
    "for now": _is_for_now,
    "idea": _is_idea,
    "question": _is_asked,
    "quotation": _is_quoted,
    "guess": _is_guess,
}
