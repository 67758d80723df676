"""Passages: where a quotation stands in a text, compared by words as a reader compares them.

Case, width, accents, punctuation, quotation marks and spaces make no difference, nor do sounds of
hesitation ("uhm", "äh") that a quotation leaves out.

Also called: fuzzy matching, quote verification, string alignment.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from shared.domain.value import positional_value
from shared.retrieval.terms import find_words, fold

_HESITATIONS = frozenset(map(fold, ("uh", "uhm", "umm", "ehm", "äh", "ähm", "hm", "hmm", "mhm")))
"""Such sounds as are no word of a language that we know of: "um" and "er" are words."""
_ELLIPSIS = re.compile(r"[\[(]?(?:…|\.{3,})[\])]?")
_EXPLANATION = re.compile(r"\[[^\]]*\]|\([^)]*\)")
"""What a quotation adds in brackets."""
MIN_LEFT_OUT = 3
"""Words: whoever leaves out fewer leaves out a "not", "never" or "no longer"."""
_LABEL = re.compile(r"[^:]{1,80}: ")
"""Of a speaker, in front of what they say."""
_SHORT_FORMS = {
    "are": "re",
    "cannot": "cannt",
    "cant": "cannt",
    "gonna": "goingto",
    "gotta": "gotto",
    "had": "d",
    "has": "s",
    "have": "ve",
    "im": "iam",
    "is": "s",
    "not": "nt",
    "shall": "ll",
    "us": "s",
    "wanna": "wantto",
    "will": "ll",
    "wont": "llnt",
    "would": "d",
}
"""Words of English in the letters that are left of them in "I'm", "don't" and "let's"."""


@positional_value
class _Word:
    start: int
    end: int
    folded: str
    is_spaced: bool


def find_passage(quote: str, text: str, start: int = 0) -> tuple[int, int] | None:
    """Return where the words of a quotation stand in a text, in their order and whole; None where they do not."""
    wanted = [word.folded for word in _list_words(quote)]
    words = [word for word in _list_words(text) if word.start >= start]
    last = len(words) - len(wanted)
    for n in range(last + 1 if wanted else 0):
        run = words[n : n + len(wanted)]
        if [word.folded for word in run] == wanted:
            return run[0].start, run[-1].end
    return None


def find_quoted(quote: str, text: str) -> tuple[int, int] | None:
    """Return where a quotation stands in a text as a model may quote it; None where it does not.

    Letters are compared: words may be written together or apart ("6am", "ice-cream"), and short or in full ("I am").
    What was said twice in a row may be once. Where something is left out, what is around stands there in order. A
    speaker's label may stand in front, and an explanation in brackets.
    """
    label = _LABEL.match(quote)
    forms = (quote, _EXPLANATION.sub(" ", quote), quote[label.end() :] if label else "")
    words = [replace(word, folded=_write_short(word.folded)) for word in _list_words(text)]
    ways = ((lambda listed: listed), _leave_out_repetitions)
    found = (_find_pieces(form, way(words), way) for way in ways for form in forms)
    return next(filter(None, found), None)


def _find_pieces(
    quote: str, words: Sequence[_Word], way: Callable[[Sequence[_Word]], Sequence[_Word]]
) -> tuple[int, int] | None:
    spans: list[tuple[int, int]] = []
    for piece in _ELLIPSIS.split(quote):
        wanted = "".join(_write_short(word.folded) for word in way([*_list_words(piece)]))
        if not wanted:
            continue
        rest = [word for word in words if not spans or word.start >= spans[-1][1]]
        span = _find_letters(wanted, rest)
        if span is None:
            return None
        left_out = sum(word.start < span[0] for word in rest)
        if spans and 0 < left_out < MIN_LEFT_OUT:
            return None
        spans.append(span)
    return (spans[0][0], spans[-1][1]) if spans else None


def _find_letters(wanted: str, words: Sequence[_Word]) -> tuple[int, int] | None:
    """Return where whole words have these letters one after the other."""
    letters = "".join(word.folded for word in words)
    starts, ends, size = {}, {}, 0
    for word in words:
        starts[size] = word.start
        size += len(word.folded)
        ends[size] = word.end
    place = letters.find(wanted)
    while place >= 0:
        if place in starts and place + len(wanted) in ends:
            return starts[place], ends[place + len(wanted)]
        place = letters.find(wanted, place + 1)
    return None


def _leave_out_repetitions(words: Sequence[_Word]) -> Sequence[_Word]:
    return [
        word
        for n, word in enumerate(words)
        if n == 0 or not word.is_spaced or words[n - 1].folded != word.folded
    ]


def _write_short(word: str) -> str:
    stem = word.removesuffix("nt")
    if stem != word and stem in _SHORT_FORMS:  # "isn't"
        return f"{_SHORT_FORMS[stem]}nt"
    return _SHORT_FORMS.get(word, word)


def stands_in_words(quote: str, text: str) -> bool:
    """Tell whether a quotation stands in a text, and tears no word."""
    return find_passage(quote, text) is not None


def weigh_quotation(quote: str) -> int:
    """Return how much is compared: one for a character in scripts written without spaces, two for a word in others.

    "I'm" is two words, as it is said.
    """
    return sum(
        2 + 2 * fold(quote[word.start : word.end]).strip("'").count("'") if word.is_spaced else 1
        for word in _list_words(quote)
    )


def _list_words(text: str) -> Iterator[_Word]:
    for start, end, is_spaced in find_words(text):
        if is_spaced:
            folded = fold(text[start:end]).replace("'", "")
            if folded and folded not in _HESITATIONS:
                yield _Word(start, end, folded, is_spaced)
        else:
            yield from (_Word(n, n + 1, fold(text[n]), is_spaced) for n in range(start, end))
