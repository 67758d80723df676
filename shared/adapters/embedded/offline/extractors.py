"""Extractors: what answers each prompt that asks for a schema, in words that were said."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

from shared.adapters.embedded.offline.answers import answer_from_data
from shared.adapters.embedded.offline.memories import extract_memories, find_text_facts
from shared.adapters.embedded.offline.speech import (
    WORDS,
    Sentence,
    capitalise,
    collect_sentences,
    count_meaningful_words,
    has_pronoun,
    list_content_terms,
    select_central,
    split_sentences,
)
from shared.adapters.embedded.offline.tasks import (
    Meanings,
    Talk,
    extract_action_items,
    extract_events,
    read_talk,
)
from shared.retrieval.term_weights import EVERYDAY_WEIGHT, RARE_WEIGHT, get_term_weight
from shared.retrieval.terms import tokenize

_MIN_MEANINGFUL_WORDS = 4
_MAX_OVERVIEW_SENTENCES, _MAX_TOPICS = 3, 8
_MAX_TITLE_WORDS, _MAX_TITLE_CHARS = 10, 80
_MIN_TELLING_TERMS = 2
_SHORT_PHRASE = 4
"""A phrase of so many terms is not better for being shorter."""
_DEFAULT_CATEGORY = ("other", "🧠")
_MIN_CATEGORY_SHARE = 0.04
"""Of the words with meaning: a single one ("of course") among many says nothing about the category."""
_FILLERS = ("will", "please")
_PAUSE = re.compile(r"(?<=\w\w)[,;:](?= )|[.!?…]+$|[。！？、]| [–—] ")
_MAX_LINES, _MAX_LINE_CHARS = 14, 240
_MAX_STRETCH_LINES, _MAX_THEMES = 4, 3
_MAX_TEMPLATE_SENTENCES = 6


def extract(data: Mapping[str, Any]) -> dict[str, Any]:
    talk = read_talk(data)
    return {
        "structure": extract_structure(talk, data.get("meanings", {})),
        "memories": extract_memories(talk.sentences),
    }


def discard(data: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what has a task, a fact, a day, a number or a few words with meaning."""
    talk = read_talk(data)
    texts = [sentence.text for sentence in talk.sentences]
    tells = (
        len(count_meaningful_words(texts)) >= _MIN_MEANINGFUL_WORDS
        or any(re.search(r"\d", text) for text in texts)
        or any([*talk.days, talk.nominees])
        or extract_memories(talk.sentences)
    )
    return {"discard": not tells}


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
    """Quote the phrase that says most of what is said and names two things, else the first one."""
    counts = Counter(term for text in texts for term in tokenize(text))
    statements = [text for text in texts if not text.endswith(("?", "？"))] or texts
    phrases = [phrase for text in statements for phrase in _split_phrases(text)]

    def is_telling(phrase: str) -> bool:
        named = {term for term in tokenize(phrase) if get_term_weight(term) > EVERYDAY_WEIGHT}
        is_short = len(phrase.split()) <= _MAX_TITLE_WORDS and len(phrase) <= _MAX_TITLE_CHARS
        return is_short and sum(not term.isdecimal() for term in named) >= _MIN_TELLING_TERMS

    def weigh(phrase: str) -> float:
        terms = {*tokenize(phrase)}
        rare = sum(counts[term] for term in terms if get_term_weight(term) == RARE_WEIGHT)
        return rare / math.sqrt(len(terms) + _SHORT_PHRASE)

    title = max(filter(is_telling, phrases), key=weigh, default=[*phrases, *texts, ""][0])
    title = " ".join(title.split()[:_MAX_TITLE_WORDS])[:_MAX_TITLE_CHARS]
    return title if "://" in title.partition(" ")[0] else capitalise(title)


def _split_phrases(text: str) -> Iterator[str]:
    """Yield what stands between pauses and pronouns, from the first to the last word that means something."""
    for clause in _PAUSE.split(text):
        for is_break, run in groupby(clause.split(), key=_is_break):
            words = [*run]
            telling = [n for n, word in enumerate(words) if _means_something(word)]
            if telling and not is_break:
                yield " ".join(words[telling[0] : telling[-1] + 1]).strip('¿¡"“”()')


@lru_cache(maxsize=4_096)
def _is_break(word: str) -> bool:
    return word.lower() in _FILLERS or has_pronoun(word)


@lru_cache(maxsize=4_096)
def _means_something(word: str) -> bool:
    return bool(list_content_terms(word))


def _choose_category(word_counts: Counter[str]) -> tuple[str, str]:
    """Return the category whose words are said most; none where another is as likely."""
    scores = Counter(
        {
            (name, emoji): sum(word_counts[word] for word in words.split())
            for name, (emoji, words) in WORDS["categories"].items()
        }
    )
    (best, most), (_, second) = scores.most_common(2)
    is_clear = most > max(second, _MIN_CATEGORY_SHARE * word_counts.total())
    return best if is_clear else _DEFAULT_CATEGORY


def extract_summary(data: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the few lines, old and new, whose words occur most in the others, in their order."""
    new = (
        f"{message['sender'].capitalize()}: {text[:_MAX_LINE_CHARS]}"
        for message in data["messages"]
        for text in split_sentences(message["text"])
    )
    lines = list(dict.fromkeys([*data["summary"].splitlines(), *new]))
    word_counts = count_meaningful_words(line.partition(": ")[2] for line in lines)
    return {"summary": "\n".join(select_central(lines, word_counts, _MAX_LINES))}


def apply_template(data: Mapping[str, Any]) -> dict[str, Any]:
    """Quote what the conversation turns on as a list, which no template can shape; of a very long one, its overview."""
    texts = list(dict.fromkeys(sentence.text for sentence in collect_sentences(data)))
    word_counts = count_meaningful_words(texts)
    central = select_central(texts, word_counts, _MAX_TEMPLATE_SENTENCES)
    quotes = central or split_sentences(data["overview"])
    return {"summary": "\n".join(f"- {text}" for text in quotes)}


def extract_stretch(data: Mapping[str, Any]) -> dict[str, Any]:
    """Quote what the owner said that the rest is most about, and the facts that they stated."""
    said = [message for message in data["messages"] if message["sender"] == "owner"]
    sentences = [
        Sentence(text=text, segment=n, is_user=True, speaker="User")
        for n, message in enumerate(said)
        for text in split_sentences(message["text"])
    ]
    lines = [sentence.text for sentence in sentences]
    word_counts = count_meaningful_words(lines)
    return {
        "summary": " ".join(select_central(lines, word_counts, _MAX_STRETCH_LINES)),
        "themes": [word for word, _ in word_counts.most_common(_MAX_THEMES)],
        "statements": [
            {
                "text": fact["content"],
                "use": "fact",
                "message": said[fact["segment"]]["number"],
                "quote": fact["evidence"],
                "kind": fact["kind"],
                "timing": "now",
            }
            for fact in extract_memories(sentences)
        ],
    }


EXTRACTORS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "chat/stretch": extract_stretch,
    "chat/summary": extract_summary,
    "process_conversation/discard": discard,
    "process_conversation/extraction": extract,
    "process_conversation/text_facts": find_text_facts,
    "process_conversation/template": apply_template,
    "process_conversation/answer": answer_from_data,
}
"""A prompt that is missing has a plain answer of its own where it is asked."""
