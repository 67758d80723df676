"""Finds the expression of time in a sentence: a rule, a word in front of one, or two and a joint."""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import cache

from shared.domain.value import value
from shared.retrieval.dates import compounds, tongues
from shared.retrieval.dates.meanings import narrowed
from shared.retrieval.dates.rules import FREE, NAMES, YEARS, Rule
from shared.retrieval.dates.spans import Span, is_sound

_DEPTH = 2  # "since" "the first week of" June
_WORD = r"(?<!every )(?<!each )(?<![\w-])\w"
_POSSESSIVE = r"['’]s\b"


@value
class Found:
    """A span with the place of the words that name it; None when they contradict themselves."""

    start: int
    stop: int
    span: Span | None


def first(text: str, now: datetime) -> Found | None:
    """Return the first expression of time, at its longest."""
    places = (found.start() for found in re.finditer(_WORD, text, re.IGNORECASE))
    return next((found for at in places if (found := _longest(_all(text, at, now)))), None)


def _all(text: str, at: int, now: datetime) -> Iterator[Found]:
    yield from _ruled(FREE, text, at, now)
    yield from _behind(text, at, now)
    yield from _ranges(text, at, now)
    yield from _compounds(text, at, now, _DEPTH)
    yield from _translated(text, at, now)


def _longest(found: Iterable[Found]) -> Found | None:
    return max(found, key=lambda each: each.stop, default=None)


def _ruled(rules: Iterable[Rule], text: str, at: int, now: datetime) -> Iterator[Found]:
    for pattern, meaning in rules:
        found = compiled(pattern).match(text, at)
        if found and (span := _sound(lambda: meaning(found, now))):  # noqa: B023 - called at once
            yield _with_part(Found(start=at, stop=found.end(), span=span), text)


def _with_part(found: Found, text: str) -> Found:
    """Narrow "last Tuesday" by "evening" or "in the evening" behind it."""
    part = compiled(compounds.PART).match(text, found.stop)
    if not part or not found.span:
        return found
    return Found(
        start=found.start, stop=part.end(), span=narrowed(found.span, part["part"].lower())
    )


def _operand(text: str, at: int, now: datetime, depth: int) -> Found | None:
    """Read what stands behind "since", "before", "between": here a bare name is a date, too."""
    found = [*_ruled((*FREE, *NAMES, *YEARS), text, at, now)]
    if depth:
        found.extend(_compounds(text, at, now, depth - 1))
    return _longest(found)


def _behind(text: str, at: int, now: datetime) -> Iterator[Found]:
    """Read "in May", "at Easter": the name means what it means, behind a word of place in time."""
    if (start := _next(compounds.IN, text, at)) is not None:
        for found in _ruled((*FREE, *NAMES), text, start, now):
            if not compiled(_POSSESSIVE).match(text, found.stop):
                yield Found(start=at, stop=found.stop, span=found.span)


def _compounds(text: str, at: int, now: datetime, depth: int) -> Iterator[Found]:
    for pattern, meaning in compounds.COMPOUNDS:
        prefix = _prefix(pattern).match(text, at)
        inner = _operand(text, prefix.end(), now, depth) if prefix else None
        if not (prefix and inner and inner.span) or _is_owned(text, inner):
            continue
        span, stop = inner.span, inner.stop
        made = _sound(lambda: meaning(prefix, span, now))  # noqa: B023 - called at once
        yield Found(start=at, stop=stop, span=made)


def _is_owned(text: str, inner: Found) -> bool:
    """Tell "after Monday's meeting", which names the Monday itself."""
    return compiled(_POSSESSIVE).match(text, inner.stop) is not None


def _ranges(text: str, at: int, now: datetime) -> Iterator[Found]:
    opening, joint = compounds.RANGE
    begin = _next(opening, text, at)
    left = _operand(text, begin, now, 1) if begin is not None else None
    if begin is None or left is None:
        return
    middle = re.compile(rf"\s*(?:{joint})\s+", re.IGNORECASE).match(text, left.stop)
    right = _operand(text, middle.end(), now, 1) if middle else None
    if right and right.span:
        yield Found(start=at, stop=right.stop, span=_joined(text, begin, left, right.span))


def _joined(text: str, begin: int, left: Found, right: Span) -> Span | None:
    """Count the beginning back from the end, so that "November and January" are neighbours."""
    earlier = left.span
    if earlier and earlier.start >= right.start:
        again = _operand(text, begin, right.start, 1)
        earlier = again.span if again else None
    start = earlier.start if earlier else right.end
    return _sound(lambda: Span(start, right.end))


def _translated(text: str, at: int, now: datetime) -> Iterator[Found]:
    for stop, english in tongues.translations(text, at):
        found = _longest(
            (
                *_ruled(FREE, english, 0, now),
                *_behind(english, 0, now),
                *_compounds(english, 0, now, 0),
            )
        )
        if found and found.stop == len(english):
            yield Found(start=at, stop=stop, span=found.span)


def _next(pattern: str, text: str, at: int) -> int | None:
    found = _prefix(pattern).match(text, at)
    return found.end() if found else None


def _sound(make: Callable[[], Span | None]) -> Span | None:
    """Return the span unless it is empty or leaves the calendar."""
    try:
        span = make()
        return span if span and is_sound(span) else None
    except (OverflowError, ValueError):
        return None


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{_spaced(pattern)})(?![\w-])", re.IGNORECASE)


@cache
def _prefix(pattern: str) -> re.Pattern[str]:
    """Compile what stands in front of an operand; "mid-May" needs no space."""
    return re.compile(rf"(?:{_spaced(pattern)})(?:\s+|(?<=[- ]))(?=\S)", re.IGNORECASE)


def _spaced(pattern: str) -> str:
    return pattern.replace(" ?", r"\s?").replace(" *", r"\s*").replace(" ", r"\s+")
