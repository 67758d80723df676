"""Structure without a model: title, overview, category, names, tasks and events of a transcript."""

from collections import Counter
from collections.abc import Mapping
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

_CATEGORIES: Mapping[str, tuple[str, str]] = {
    "health": ("🩺", "doctor dentist hospital medicine pain sleep diet allergic symptom therapy pharmacy blood vaccine"),
    "finance": ("💰", "money bank invoice tax taxes loan mortgage invest stocks salary insurance pension savings"),
    "legal": ("⚖️", "lawyer court contract lawsuit lease notary clause liability"),
    "travel": ("✈️", "flight airport hotel trip travel visa passport luggage vacation train itinerary"),
    "education": ("🎓", "school teacher exam homework university lecture course study student semester"),
    "parenting": ("🧸", "kids daughter son baby kindergarten daycare toddler bedtime"),
    "family": ("👪", "mother father mom dad sister brother grandma grandmother cousin family uncle aunt"),
    "romantic": ("❤️", "girlfriend boyfriend date anniversary engaged wedding love"),
    "technology": ("💻", "software code server database app deploy bug laptop computer api model release"),
    "business": ("📈", "customer revenue market sales startup investor pricing launch competitor supplier"),
    "work": ("💼", "meeting project deadline team manager colleague office report client sprint review presentation"),
    "sports": ("⚽", "football soccer tennis running marathon gym training match team coach race"),
    "music": ("🎵", "song album concert guitar piano band singer rehearsal"),
    "entertainment": ("🎬", "movie film series show theatre game episode cinema"),
    "weather": ("🌦️", "rain snow sunny storm forecast temperature degrees"),
    "politics": ("🏛️", "election government president parliament vote minister policy"),
    "science": ("🔬", "experiment research physics biology chemistry hypothesis telescope"),
    "social": ("🥳", "party friends dinner birthday barbecue neighbour invite drinks lunch"),
    "design": ("🎨", "logo colour color font layout sketch prototype"),
    "environment": ("🌱", "climate recycling solar emissions garden forest"),
}  # fmt: skip
_DEFAULT_CATEGORY = ("other", "🧠")


def extract_structure(talk: Talk, meanings: Meanings) -> dict[str, Any]:
    """Extract it; the meanings of what may be a task tell which is one."""
    people, entities = extract_names(talk.sentences)
    word_counts = count_meaningful_words(talk.sentences)
    texts = [sentence.text for sentence in talk.sentences]
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
