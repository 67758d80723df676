"""Passages: where a quotation stands in a text, compared by words as a reader compares them.

Case, width, accents, punctuation, quotation marks and spaces make no difference, nor do sounds of
hesitation ("uhm", "äh"), fillers between two pauses (fillers.json) and remarks in brackets that a quotation leaves out.

Also called: fuzzy matching, quote verification, string alignment.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from html import unescape
from pathlib import Path

from shared.domain.value import positional_value
from shared.domain.words import PLAIN_LETTERS
from shared.retrieval.negations import has_negation
from shared.retrieval.term_weights import FUNCTION_WEIGHT, get_term_weight
from shared.retrieval.terms import find_words, fold

_HESITATIONS = frozenset(map(fold, ("uh", "uhm", "umm", "ehm", "äh", "ähm", "hm", "hmm", "mhm")))
"""Such sounds as are no word of a language that we know of: "um" and "er" are words."""
_ELLIPSIS = re.compile(r"[\[(]?(?:…|\.{3,}|\. \. \.)[\])]?")
_EXPLANATION = re.compile(r"\[[^\[\]]{0,80}\]|\([^()]{0,80}\)")
"""What a quotation adds in brackets, and a transcriber: "[laughs]"."""
_FILLERS = json.loads(Path(__file__).with_name("fillers.json").read_bytes())
_PAUSE = r"[,;:.!?…—–¿、，。！？،]"
MIN_LEFT_OUT = 3
"""Words: whoever leaves out fewer leaves out a "not", "never" or "no longer"."""
_LABEL = re.compile(r"[^:]{1,80}: ")
"""Of a speaker, in front of what they say."""
_MAX_SAID_AGAIN = 4
"""Words that are said twice in a row: "at the, at the"."""
_MAX_JOINED = 12
"""Words that are one in another spelling: "I.B.M."."""
_MAX_ELIDED = 4
"""Letters that a short form leaves out: "I'd" for "I would"."""
_MIN_CLIPPED = 3
"""Letters of a word whose last vowel is not heard; "her" and "here" are two words."""
_JOINT = re.compile(r"'|([^aeiouy'])\1")
"""Where words grew together, as in "don't" and "gonna": vowels may have changed there."""
_WEAK = re.compile(r"[aeiouy']|([^aeiouy'])(?=\1)")


@positional_value
class _Word:
    """A word in a text; `spelling` is folded, and `folded` is that without apostrophes."""

    start: int
    end: int
    folded: str
    spelling: str
    is_spaced: bool


def find_passage(quote: str, text: str, start: int = 0) -> tuple[int, int] | None:
    """Return where the words of a quotation stand in a text, in their order and whole; None where they do not."""
    wanted = [word.folded for word in _list_words(quote)]
    words = [word for word in _list_words(text) if word.start >= start]
    for n in range(len(words) if wanted else 0):
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
    quote = unescape(quote)
    forms = dict.fromkeys(
        (quote, _EXPLANATION.sub(" ", quote), quote[label.end() :] if label else "")
    )
    readings = ((read, read(text)) for read in (_list_all_words, _list_meant_words))
    found = (_find_pieces(form, words, read) for read, words in readings for form in forms)
    return next(filter(None, found), None)


def _find_pieces(
    quote: str, words: Sequence[_Word], read: Callable[[str], Sequence[_Word]]
) -> tuple[int, int] | None:
    spans: list[tuple[int, int]] = []
    for piece in _ELLIPSIS.split(quote):
        wanted = read(piece)
        if not wanted:
            continue
        rest = [word for word in words if not spans or word.start >= spans[-1][1]]
        span = _find_words(wanted, rest)
        if span is None:
            return None
        left_out = sum(word.start < span[0] for word in rest)
        if spans and 0 < left_out < MIN_LEFT_OUT:
            return None
        spans.append(span)
    return (spans[0][0], spans[-1][1]) if spans else None


def _find_words(wanted: Sequence[_Word], words: Sequence[_Word]) -> tuple[int, int] | None:
    """Return where whole words say what is wanted."""
    for first, word in enumerate(words):
        end = _align(wanted, words, first) if word.folded[0] == wanted[0].folded[0] else None
        if end is not None:
            return word.start, words[end - 1].end
    return None


def _align(wanted: Sequence[_Word], words: Sequence[_Word], first: int) -> int | None:
    """Return before which word it ends what is wanted from `first` on; None where something else is said."""
    places, seen = [(0, first)], set()
    while places:
        place = places.pop()
        n, m = place
        if n == len(wanted):
            return m
        if m == len(words) or place in seen:
            continue
        if wanted[n].folded == words[m].folded:
            places.append((n + 1, m + 1))
            continue
        seen.add(place)
        steps = _list_steps(wanted[n : n + _MAX_JOINED], words[m : m + _MAX_JOINED])
        places += [(n + few, m + many) for few, many in steps]
    return None


def _list_steps(one: Sequence[_Word], other: Sequence[_Word]) -> Iterator[tuple[int, int]]:
    """Yield how many words of each say the same: in short and in full, or together and apart."""
    for count in (1, 2):
        if count <= len(other) and _is_short_form(one[0], other[:count]):
            yield 1, count
        if count <= len(one) and _is_short_form(other[0], one[:count]):
            yield count, 1
    n = m = 1
    left, right = one[0].folded, other[0].folded
    while left != right:
        if right.startswith(left) and n < len(one):
            left, n = left + one[n].folded, n + 1
        elif left.startswith(right) and m < len(other):
            right, m = right + other[m].folded, m + 1
        else:
            return
    yield n, m


def _is_short_form(short: _Word, full: Sequence[_Word]) -> bool:
    """Tell whether a word is what is left of one or two: its letters stand in theirs in order, the ends alike."""
    word, whole = short.folded, "".join(each.folded for each in full)
    if not (word + whole).isascii() or not 0 <= len(whole) - len(word) <= _MAX_ELIDED:
        return False
    if len(full) == 1 and whole == word + "e":  # "ich hab" is "ich habe"
        return len(word) >= _MIN_CLIPPED and get_term_weight(word) > FUNCTION_WEIGHT
    if len(full) == 1 or not _JOINT.search(short.spelling):  # "can't", "cannot"; "dont"
        head = short.spelling.partition("'")[0] if len(full) == 1 else full[0].folded
        is_left = len(head) < len(word) and word.startswith(head) and whole.startswith(head)
        return is_left and word[-1] == whole[-1] and _stands_in_order(word, whole)
    ends = [word[-1], whole[-1]]
    return (
        word[0] == whole[0]
        and (ends[0] == ends[1] or all(map(_WEAK.fullmatch, ends)))
        and _stands_in_order(_WEAK.sub("", short.spelling), _WEAK.sub("", whole))
    )


def _stands_in_order(letters: str, whole: str) -> bool:
    rest = iter(whole)
    return all(letter in rest for letter in letters)


def _list_all_words(text: str) -> Sequence[_Word]:
    return [*_list_words(text)]


def _list_meant_words(text: str) -> Sequence[_Word]:
    """List the words without what is said while somebody thinks."""
    bare = _compile_asides().sub(_blank_aside, text)
    return _leave_out_repetitions([*_list_words(bare)])


def _blank_aside(aside: re.Match[str]) -> str:
    """Leave no "(not)" out."""
    return aside[0] if has_negation(aside[0]) else " " * len(aside[0])


@cache
def _compile_asides() -> re.Pattern[str]:
    """Compile remarks in brackets, and fillers: their words mean something where no pause stands on both sides."""
    fillers = "|".join(re.escape(each) for listed in _FILLERS.values() for each in listed)
    return re.compile(
        rf"{_EXPLANATION.pattern}|(?:^|(?<={_PAUSE}))\s*(?:{fillers})(?=\s*{_PAUSE})",
        re.IGNORECASE,
    )


def _leave_out_repetitions(words: Sequence[_Word]) -> Sequence[_Word]:
    """Leave out words that are said again at once, and the beginning of one that is: "I, I'm"."""
    kept: list[_Word] = []
    for word in words:
        is_begun = kept and word.spelling.startswith(f"{kept[-1].folded}'")
        kept.append(replace(word, start=kept.pop().start) if is_begun else word)
        for count in range(1, _MAX_SAID_AGAIN + 1):
            last, before = kept[-count:], kept[-2 * count : -count]
            if word.is_spaced and [w.folded for w in last] == [w.folded for w in before]:
                del kept[-count:]
                break
    return kept


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
        places = [(start, end)] if is_spaced else [(n, n + 1) for n in range(start, end)]
        for first, last in places:
            spelling = fold(text[first:last]).translate(PLAIN_LETTERS)
            folded = spelling.replace("'", "")
            if folded and folded not in _HESITATIONS:
                yield _Word(first, last, folded, spelling, is_spaced)
