"""Title, overview, category and what was named or undertaken."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shared.extraction.calendar import moment, started
from shared.extraction.names import names
from shared.extraction.speech import Sentence, counts, sentences, words
from shared.extraction.tasks import action_items, events

_TITLE_WORDS = 8
_STATEMENT_WORDS = 3
_TITLE_CHARS = 80
_CLAUSE = re.compile(r"(?<=\w{2})[,;:](?= )| [–—] ")
_OVERVIEW_SENTENCES = 3
_TOPICS = 8
Weights = Mapping[str, float]
"""What each sentence weighs, by its text."""

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
_DEFAULT = ("other", "🧠")


def structure(data: Mapping[str, Any]) -> dict[str, Any]:
    said = sentences(data)
    now = started(data)
    people, entities = names(said)
    telling = counts(said)
    weights = {s.text: _weight(s.text, telling) for s in said}
    category, emoji = _category(telling)
    days = [when.at.date().isoformat() for s in said if (when := moment(s.text, now))]
    return {
        "title": _title(said, weights),
        "overview": _overview(said, weights),
        "emoji": emoji,
        "category": category,
        "action_items": list(action_items(said, now)),
        "events": list(events(said, now)),
        "people": people,
        "topics": [word for word, _ in telling.most_common(_TOPICS)],
        "entities": entities,
        "dates": list(dict.fromkeys(days)),
    }


def _title(said: Sequence[Sentence], weights: Weights) -> str:
    """Quote the beginning of the first statement that the rest of the conversation is about."""
    texts = [s.text for s in said]
    statements = [t for t in texts if t[-1:] not in "?？" and len(t.split()) >= _STATEMENT_WORDS]
    first = next(_central(statements or texts, weights), "")
    clause = _CLAUSE.split(first, maxsplit=1)[0].split()
    short = " ".join(clause[:_TITLE_WORDS])[:_TITLE_CHARS].rstrip(".!…,;:。！")
    return f"{short[:1].upper()}{short[1:]}{'…' if len(clause) > _TITLE_WORDS else ''}"


def _overview(said: Sequence[Sentence], weights: Weights) -> str:
    return " ".join(_central([s.text for s in said], weights))


def _central(texts: Sequence[str], weights: Weights) -> Iterator[str]:
    """Yield the few texts whose words the rest uses most, in their order."""
    ranked = sorted(range(len(texts)), key=lambda n: (-weights[texts[n]], n))
    return (texts[n] for n in sorted(ranked[:_OVERVIEW_SENTENCES]))


def _weight(text: str, telling: Counter[str]) -> float:
    """Sum the words, damped by length, so that neither a cry nor a ramble wins."""
    said = words(text)
    return sum(telling[w] for w in {word.lower() for word in said}) / (len(said) + 4)


def _category(telling: Counter[str]) -> tuple[str, str]:
    score = {
        (name, emoji): sum(telling[word] for word in keys.split())
        for name, (emoji, keys) in _CATEGORIES.items()
    }
    best = max(score, key=lambda key: score[key])
    return best if score[best] else _DEFAULT
