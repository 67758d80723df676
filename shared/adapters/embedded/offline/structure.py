"""Structure without a model: title, overview, category, tasks and events of a transcript."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from shared.adapters.embedded.offline.speech import (
    PRONOUNS,
    capitalise,
    count_meaningful_words,
    has_content,
    select_central,
)
from shared.adapters.embedded.offline.tasks import (
    Meanings,
    Talk,
    extract_action_items,
    extract_events,
)
from shared.retrieval.term_weights import FUNCTION_WEIGHT, RARE_WEIGHT, get_term_weight
from shared.retrieval.terms import tokenize

_MAX_OVERVIEW_SENTENCES = 3
_MAX_TOPICS = 8
_MAX_TITLE_WORDS, _MAX_TITLE_CHARS = 10, 80
_MIN_TELLING_TERMS = 2
_MANY_WORDS = 25
"""Among so many words with meaning, a single one ("of course") says nothing about the category."""
_CATEGORIES: Mapping[str, tuple[str, str]] = json.loads(
    Path(__file__).with_name("categories.json").read_text("utf-8")
)
"""The icon of each, and words of it."""
_DEFAULT_CATEGORY = ("other", "🧠")
_BREAKS = PRONOUNS | {"will", "please"}
_PAUSE = re.compile(r"(?<=\w\w)[,;:](?= )|[.!?…]+(?:\s|$)|[。！？、]| [–—] ")


def extract_structure(talk: Talk, meanings: Meanings) -> dict[str, Any]:
    """Extract it; the meanings of what may be a task tell which is one."""
    texts = [sentence.text for sentence in talk.sentences]
    word_counts = count_meaningful_words(texts)
    category, emoji = _choose_category(word_counts)
    return {
        "title": build_title(texts),
        "overview": " ".join(select_central(texts, word_counts, _MAX_OVERVIEW_SENTENCES)),
        "emoji": emoji,
        "category": category,
        "action_items": list(extract_action_items(talk, meanings)),
        "events": list(extract_events(talk)),
        "topics": [word for word, _ in word_counts.most_common(_MAX_TOPICS)],
        "dates": list(dict.fromkeys(f"{day.at:%Y-%m-%d}" for day in talk.days if day)),
    }


def build_title(texts: Sequence[str]) -> str:
    """Quote what says most of what is said: words between two pauses or pronouns that name two things, and others if there is room."""
    counts = Counter(term for text in texts for term in tokenize(text))

    def weigh(phrase: str) -> float:
        terms = {*tokenize(phrase)}
        rare = [counts[term] for term in terms if get_term_weight(term) == RARE_WEIGHT]
        return sum(rare) / math.sqrt(len(terms) + 1)

    statements = [text for text in texts if not text.endswith(("?", "？"))] or texts
    phrases = [phrase for text in statements for phrase in _split_phrases(text)]
    ranked = sorted(filter(_is_telling, phrases), key=weigh, reverse=True) or [*phrases, *texts][:1]
    title = ""
    for phrase in ranked:
        longer = f"{title}, {phrase}" if title else phrase
        is_new = {*tokenize(title)}.isdisjoint(tokenize(phrase))
        if not title or (is_new and _is_short(longer)):
            title = longer
    title = " ".join(title.split()[:_MAX_TITLE_WORDS])[:_MAX_TITLE_CHARS]
    return title if "://" in title.partition(" ")[0] else capitalise(title)


def _split_phrases(text: str) -> Iterator[str]:
    """Yield what stands between pauses and pronouns, from the first to the last word that means something."""
    for clause in _PAUSE.split(text):
        run: list[str] = []
        for word in [*clause.split(), "I"]:
            if _BREAKS.isdisjoint(re.split(r"['’]", word.lower().strip('¿¡"“”()?!.,'))):
                run.append(word)
                continue
            telling = [n for n, each in enumerate(run) if _means_something(each)]
            if telling:
                yield " ".join(run[telling[0] : telling[-1] + 1]).strip('¿¡"“”()')
            run = []


def _is_short(phrase: str) -> bool:
    return len(phrase.split()) <= _MAX_TITLE_WORDS and len(phrase) <= _MAX_TITLE_CHARS


def _means_something(word: str) -> bool:
    return any(get_term_weight(term) > FUNCTION_WEIGHT for term in tokenize(word))


def _is_telling(phrase: str) -> bool:
    words = [term for term in tokenize(phrase) if not term.isdecimal()]
    return _is_short(phrase) and sum(map(has_content, words)) >= _MIN_TELLING_TERMS


def _choose_category(word_counts: Counter[str]) -> tuple[str, str]:
    """Return the category whose words are said most; its icon only where no other comes as close."""
    score = {
        (name, emoji): sum(word_counts[word] for word in keys.split())
        for name, (emoji, keys) in _CATEGORIES.items()
    }
    best, second = sorted(score, key=lambda key: -score[key])[:2]
    if score[best] < (1 if word_counts.total() < _MANY_WORDS else 2):
        return _DEFAULT_CATEGORY
    return best if score[best] > score[second] else (best[0], _DEFAULT_CATEGORY[1])
