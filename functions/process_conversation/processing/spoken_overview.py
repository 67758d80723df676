"""Spoken overview: title and overview in the words of a transcript, where no model wrote them; pure.

Also called: extractive summary.
"""

import re
from collections import Counter
from dataclasses import replace

from functions.process_conversation.processing.structure import clean_overview, clean_title
from shared.domain.conversations.conversation import Conversation, Structured
from shared.retrieval.term_weights import get_term_weight
from shared.retrieval.terms import tokenize

MAX_QUOTED = 3
MAX_SENTENCES = 20_000
_SENTENCE = re.compile(r".{1,300}?(?:[.!?…](?=\s|$)|[。！？]|$)|.{300}")
_SHORTNESS = 4
"""Terms by which a sentence counts as longer: one word alone tells nothing."""


def add_spoken_overview(structured: Structured, conversation: Conversation) -> Structured:
    """Return it with a title and an overview; what it lacks is the sentences that are most like all the rest."""
    if structured.title and structured.overview:
        return structured
    sentences = _list_sentences(conversation)
    central = _find_central(sentences)[:MAX_QUOTED]
    title = clean_title(sentences[central[0]].rstrip(".。"), conversation) if central else ""
    overview = clean_overview(" ".join(sentences[n] for n in sorted(central)), conversation)
    return replace(
        structured, title=structured.title or title, overview=structured.overview or overview
    )


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
