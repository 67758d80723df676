"""Extractors: what answers each prompt that asks for a schema, in words that were said."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from shared.adapters.embedded.offline.answers import answer_from_data
from shared.adapters.embedded.offline.memories import extract_memories
from shared.adapters.embedded.offline.speech import (
    WORDS,
    collect_sentences,
    count_meaningful_words,
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

_MIN_MEANINGFUL_WORDS = 4
_MAX_TOPICS, _MAX_THEMES = 8, 3
_DEFAULT_CATEGORY = ("other", "🧠")
_MIN_CATEGORY_SHARE = 0.04
"""Of the words with meaning: a single one ("of course") among many says nothing about the category."""
_MAX_SUMMARY_LINES, _MAX_LINE_CHARS = 14, 240
_MAX_STRETCH_LINES, _MAX_TEMPLATE_SENTENCES = 4, 6


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
    """Extract what a transcript holds; its title and overview are quoted where it is processed."""
    word_counts = count_meaningful_words(sentence.text for sentence in talk.sentences)
    category, emoji = _choose_category(word_counts)
    return {
        "title": "",
        "overview": "",
        "emoji": emoji,
        "category": category,
        "action_items": list(extract_action_items(talk, meanings)),
        "events": list(extract_events(talk)),
        "topics": [word for word, _ in word_counts.most_common(_MAX_TOPICS)],
        "dates": list(dict.fromkeys(f"{day.at:%Y-%m-%d}" for day in talk.days if day)),
    }


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


def find_text_facts(data: Mapping[str, Any]) -> dict[str, Any]:
    """Find what a text says in the first person, which is taken for its owner's."""
    line = {"text": data["text"], "segment": 0, "is_user": True, "speaker": ""}
    facts = extract_memories(collect_sentences([line]))
    return {"facts": [{"content": f["content"], "evidence": f["evidence"]} for f in facts]}


def extract_summary(data: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the few lines, old and new, whose words occur most in the others, in their order."""
    new = (
        f"{message['sender'].capitalize()}: {text[:_MAX_LINE_CHARS]}"
        for message in data["messages"]
        for text in split_sentences(message["text"])
    )
    lines = list(dict.fromkeys([*data["summary"].splitlines(), *new]))
    word_counts = count_meaningful_words(line.partition(": ")[2] for line in lines)
    return {"summary": "\n".join(select_central(lines, word_counts, _MAX_SUMMARY_LINES))}


def apply_template(data: Mapping[str, Any]) -> dict[str, Any]:
    """Quote what the conversation turns on as a list, which no template can shape; of a very long one, its overview."""
    texts = list(dict.fromkeys(each.text for each in collect_sentences(data["transcript"])))
    word_counts = count_meaningful_words(texts)
    central = select_central(texts, word_counts, _MAX_TEMPLATE_SENTENCES)
    quotes = central or split_sentences(data["overview"])
    return {"summary": "\n".join(f"- {text}" for text in quotes)}


def extract_stretch(data: Mapping[str, Any]) -> dict[str, Any]:
    """Quote what the owner said that the rest is most about, and the facts that they stated."""
    sentences = collect_sentences(
        {"text": each["text"], "segment": each["number"], "is_user": True, "speaker": ""}
        for each in data["messages"]
        if each["sender"] == "owner"
    )
    texts = [sentence.text for sentence in sentences]
    word_counts = count_meaningful_words(texts)
    return {
        "summary": " ".join(select_central(texts, word_counts, _MAX_STRETCH_LINES)),
        "themes": [word for word, _ in word_counts.most_common(_MAX_THEMES)],
        "statements": [
            {
                "text": fact["content"],
                "use": "fact",
                "message": fact["segment"],
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
