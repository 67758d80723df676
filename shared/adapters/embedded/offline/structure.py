"""Structure without a model: title, overview, category, names, tasks and events of a transcript."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shared.adapters.embedded.offline.names import extract_names
from shared.adapters.embedded.offline.speech import count_meaningful_words, select_central
from shared.adapters.embedded.offline.tasks import (
    Meanings,
    Talk,
    extract_action_items,
    extract_events,
)
from shared.adapters.embedded.offline.titles import build_title

_MAX_OVERVIEW_SENTENCES = 3
_MAX_TOPICS = 8
_MANY_WORDS = 25
"""Among so many words with meaning, a single one ("of course") says nothing about the category."""

_CATEGORIES: Mapping[str, tuple[str, str]] = json.loads(
    Path(__file__).with_name("categories.json").read_text("utf-8")
)
"""The icon of each, and words of it."""
_DEFAULT_CATEGORY = ("other", "🧠")


def extract_structure(talk: Talk, meanings: Meanings) -> dict[str, Any]:
    """Extract it; the meanings of what may be a task tell which is one."""
    people, entities = extract_names(talk.sentences)
    texts = [sentence.text for sentence in talk.sentences]
    word_counts = count_meaningful_words(texts)
    category, emoji = _choose_category(word_counts)
    days = [day.at.date().isoformat() for day in talk.days if day]
    return {
        "title": build_title(
            texts, word_counts, speakers=[sentence.speaker for sentence in talk.sentences]
        ),
        "overview": " ".join(select_central(texts, word_counts, _MAX_OVERVIEW_SENTENCES)),
        "emoji": emoji,
        "category": category,
        "action_items": list(extract_action_items(talk, meanings)),
        "events": list(extract_events(talk)),
        "people": people,
        "topics": [word for word, _ in word_counts.most_common(_MAX_TOPICS)],
        "entities": entities,
        "dates": list(dict.fromkeys(days)),
    }


def _choose_category(word_counts: Counter[str]) -> tuple[str, str]:
    """Return the category whose words are said most; its icon only where no other comes as close."""
    score = {
        (name, emoji): sum(word_counts[word] for word in keys.split())
        for name, (emoji, keys) in _CATEGORIES.items()
    }
    best, second = sorted(score, key=lambda key: -score[key])[:2]
    needed = 1 if word_counts.total() < _MANY_WORDS else 2
    if score[best] < needed:
        return _DEFAULT_CATEGORY
    return best if score[best] > score[second] else (best[0], _DEFAULT_CATEGORY[1])
