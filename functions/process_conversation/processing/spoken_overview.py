"""Spoken overview: title and overview in the words of a transcript, where no model wrote them; pure.

Also called: extractive summary.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby

from functions.process_conversation.processing.structure import clean_overview, clean_title
from shared.domain.conversations.conversation import Conversation, Structured
from shared.retrieval.pronouns import has_pronoun
from shared.retrieval.term_weights import (
    EVERYDAY_WEIGHT,
    FUNCTION_WEIGHT,
    RARE_WEIGHT,
    get_term_weight,
)
from shared.retrieval.terms import tokenize

MAX_QUOTED = 3
MAX_SENTENCES = 20_000
MAX_TITLE_WORDS, MAX_TITLE_CHARS = 10, 80
MIN_TELLING_TERMS = 2
_SENTENCE = re.compile(r".{1,300}?(?:[.!?…](?=\s|$)|[。！？]|$)|.{300}")
_PAUSE = re.compile(r"(?<=\w\w)[,;:](?= )|[.!?…]+$|[。！？、]| [–—] ")
_SHORTNESS = 4
"""Terms by which a sentence or a phrase counts as longer: one word alone tells nothing."""
_FILLERS = ("will", "please")


def add_spoken_overview(structured: Structured, conversation: Conversation) -> Structured:
    """Return it with a title and an overview; what it lacks is quoted from the sentences."""
    if structured.title and structured.overview:
        return structured
    sentences = _list_sentences(conversation)
    title = structured.title or clean_title(build_title(sentences), conversation)
    central = sorted(_find_central(sentences)[:MAX_QUOTED])
    overview = clean_overview(" ".join(sentences[n] for n in central), conversation)
    return replace(structured, title=title, overview=structured.overview or overview)


def _list_sentences(conversation: Conversation) -> list[str]:
    lines = (line for s in conversation.transcript_segments for line in s.text.splitlines())
    sentences = (found.strip() for line in lines for found in _SENTENCE.findall(line))
    return [sentence for sentence in sentences if sentence][:MAX_SENTENCES]


def _find_central(sentences: list[str]) -> list[int]:
    """Return the places of sentences, of those first whose words occur most and tell most."""
    terms = [tokenize(sentence) for sentence in sentences]
    counts = Counter(term for listed in terms for term in listed)

    def weigh(place: int) -> float:
        told = sum(get_term_weight(term) * counts[term] for term in {*terms[place]})
        return told / (len(terms[place]) + _SHORTNESS)

    return sorted(range(len(sentences)), key=lambda n: (-weigh(n), n))


def build_title(sentences: Sequence[str]) -> str:
    """Quote the phrase that says most of what is said and names two things, else the first sentence."""
    counts = Counter(term for sentence in sentences for term in tokenize(sentence))
    statements = [each for each in sentences if not each.endswith(("?", "？"))] or sentences
    phrases = [phrase for sentence in statements for phrase in _split_phrases(sentence)]

    def is_telling(phrase: str) -> bool:
        named = {term for term in tokenize(phrase) if get_term_weight(term) > EVERYDAY_WEIGHT}
        is_short = len(phrase.split()) <= MAX_TITLE_WORDS and len(phrase) <= MAX_TITLE_CHARS
        return is_short and sum(not term.isdecimal() for term in named) >= MIN_TELLING_TERMS

    def weigh(phrase: str) -> float:
        terms = {*tokenize(phrase)}
        rare = sum(counts[term] for term in terms if get_term_weight(term) == RARE_WEIGHT)
        return rare / math.sqrt(len(terms) + _SHORTNESS)

    first = [*statements, ""][0].rstrip(".!?…。！？")
    title = max(filter(is_telling, phrases), key=weigh, default=first)
    title = " ".join(title.split()[:MAX_TITLE_WORDS])[:MAX_TITLE_CHARS]
    is_address = "://" in title.partition(" ")[0]
    return title if is_address else title[:1].upper() + title[1:]


def _split_phrases(sentence: str) -> Iterator[str]:
    """Yield what stands between pauses and pronouns, from the first to the last word that means something."""
    for clause in _PAUSE.split(sentence):
        for is_break, run in groupby(clause.split(), key=_is_break):
            words = [*run]
            telling = [n for n, word in enumerate(words) if _means_something(word)]
            if telling and not is_break:
                yield " ".join(words[telling[0] : telling[-1] + 1]).strip('¿¡"“”()')


def _is_break(word: str) -> bool:
    return word.lower() in _FILLERS or has_pronoun(word)


@lru_cache(maxsize=4_096)
def _means_something(word: str) -> bool:
    return any(get_term_weight(term) > FUNCTION_WEIGHT for term in tokenize(word))
