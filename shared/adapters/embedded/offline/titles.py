"""Titles without a model: the things a conversation speaks of most, or its first telling clause."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from shared.adapters.embedded.offline.speech import (
    capitalise,
    drop_pronouns,
    has_pronoun,
    is_meaningful,
    select_central,
    split_words,
)
from shared.retrieval.term_weights import EVERYDAY_WEIGHT, RARE_WEIGHT, get_term_weight
from shared.retrieval.terms import tokenize

_MAX_WORDS = 10
_MAX_CHARS = 80
_MIN_STATEMENT_WORDS = 3
_MIN_TELLING_WORDS = 2
_MAX_CENTRAL = 3
_MAX_THINGS = 3
_MAX_THING_WORDS = 3
_MANY_SENTENCES = 8
"""A talk of fewer sentences is told by one of them."""
_DETERMINERS_TEXT = """
the a an my your our his her their its this that these those of for about no
der die das den dem des ein eine einen einem einer mein meine meinen dein deine deinen unser unsere unseren zum zur vom
el la los las un una unos unas mi mis tu tus su sus nuestro nuestra del al de
le les une mon ma mes ton ta tes son sa ses notre votre du des au aux
"""
_DETERMINERS = frozenset(_DETERMINERS_TEXT.split())
_ELISION = re.compile(r"\b[dl]['’](?=\w)", re.IGNORECASE)
_JAPANESE_THING = re.compile(r"[一-鿿ァ-ヶー]{2,12}")
_NUMBER = re.compile(
    r"(\d.*|\w+teen|(twen|thir|for|fif|six|seven|eigh|nine)ty(-\w+)?|hundred|thousand)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?<=\w{2})[,;:](?= )| [–—] ")
_OPENING = re.compile(
    r"(?:(?:so|please|okay|ok|yeah|yes|yep|no|well|right|and|but|oh|um|uh|now|then|hi|hello|hey|thanks|anyway"
    r"|actually|you know|i mean|i think|good (?:morning|afternoon|evening))\b[\s,.!–—-]*)+",
    re.IGNORECASE,
)


def build_title(
    texts: Sequence[str], word_counts: Counter[str], *, speakers: Collection[str] = ()
) -> str:
    """Name the things that are mentioned most, or quote a clause that is short and clear by itself.

    Where nothing is repeated and no such clause is found, name what is mentioned once, else begin behind its pronouns.
    """
    names = {word.lower() for speaker in speakers for word in split_words(speaker)}
    spoken = Counter(term for text in texts for term in tokenize(text))
    things = _rank_things((thing for text in texts for thing in _find_things(text, names)), spoken)
    repeated = [thing for thing in things if min(spoken[t] for t in tokenize(thing)) > 1]
    clause = _quote_clause(texts, word_counts)
    if len(texts) >= _MANY_SENTENCES and _tell_enough(chosen := _choose_things(repeated)):
        return _shorten(", ".join(chosen))
    if len(clause.split()) <= _MAX_WORDS and not has_pronoun(clause):
        return _shorten(clause)
    mentioned = _choose_things(things)
    return _shorten(", ".join(mentioned) if _tell_enough(mentioned) else drop_pronouns(clause))


def _tell_enough(things: Sequence[str]) -> bool:
    return sum(len(thing.split()) for thing in things) >= _MIN_TELLING_WORDS


def _rank_things(things: Iterable[str], spoken: Counter[str]) -> list[str]:
    """Order things by what their words weigh and how often they are said: a word more helps where it is repeated as well."""
    by_terms: dict[tuple[str, ...], str] = {}
    for thing in things:
        by_terms.setdefault(tuple(tokenize(thing)), thing)
    scores = {
        thing: sum(get_term_weight(term) * spoken[term] for term in terms) / math.sqrt(len(terms))
        for terms, thing in by_terms.items()
        if terms
    }
    return sorted(scores, key=lambda thing: -scores[thing])


def _choose_things(things: Iterable[str]) -> list[str]:
    """Return the first three that share no word."""
    chosen: list[str] = []
    taken: set[str] = set()
    for thing in things:
        terms = tokenize(thing)
        if taken.isdisjoint(terms):
            chosen.append(thing)
            taken.update(terms)
    return chosen[:_MAX_THINGS]


def _find_things(text: str, names: Collection[str]) -> Iterator[str]:
    """Yield what follows a determiner, up to a pause or a word without meaning, at any length."""
    yield from _JAPANESE_THING.findall(text)
    for clause in re.split(r"[^\w\s'’-]+", _ELISION.sub("le ", text)):
        words = clause.split()
        for n, word in enumerate(words[:-1]):
            if word.lower() in _DETERMINERS:
                phrase = _take_telling(words[n + 1 : n + 1 + _MAX_THING_WORDS], names)
                for size in range(1, len(phrase) + 1):
                    yield re.sub(r"['’]s$", "", " ".join(phrase[:size]))


def _take_telling(words: Sequence[str], names: Collection[str]) -> list[str]:
    taken: list[str] = []
    for word in words:
        bare = re.sub(r"['’]s$", "", word)
        is_new = taken and taken[-1][0].isupper() and bare.islower()  # German has its verbs there
        if not is_meaningful(bare) or is_new or bare.lower() in names or _NUMBER.fullmatch(bare):
            break
        taken.append(word.rstrip("-"))
    return taken


def _quote_clause(texts: Sequence[str], word_counts: Counter[str]) -> str:
    """Quote the beginning of the first central statement that tells what it is about, else of the first."""
    statements = [
        t for t in texts if t[-1:] not in "?？" and len(t.split()) >= _MIN_STATEMENT_WORDS
    ]
    central = select_central(statements or texts, word_counts, _MAX_CENTRAL)
    clauses = [_choose_clause(statement) for statement in central]
    return next(filter(_is_telling, clauses), next(iter(clauses), ""))


def _is_telling(clause: str) -> bool:
    """Tell whether the words that a title has room for name something, one of them by a rare word."""
    weights = [get_term_weight(term) for term in tokenize(" ".join(clause.split()[:_MAX_WORDS]))]
    telling = [weight for weight in weights if weight > EVERYDAY_WEIGHT]
    return len(telling) >= _MIN_TELLING_WORDS and max(telling) >= RARE_WEIGHT


def _choose_clause(statement: str) -> str:
    """Return the first clause that says something, without words that only open a sentence."""
    clauses = [strip_opening(clause.strip()) for clause in _CLAUSE.split(statement)]
    telling = (c for c in clauses if sum(map(is_meaningful, split_words(c))) >= _MIN_TELLING_WORDS)
    return next(telling, strip_opening(statement)) or statement


def strip_opening(text: str) -> str:
    match = _OPENING.match(text)
    return text[match.end() :] if match else text


def _shorten(text: str) -> str:
    words = text.split()
    short = " ".join(words[:_MAX_WORDS])[:_MAX_CHARS].rstrip(".!…,;:。！")
    is_address = "://" in short.partition(" ")[0]
    ellipsis = "…" if len(words) > _MAX_WORDS else ""
    return f"{short if is_address else capitalise(short)}{ellipsis}"
