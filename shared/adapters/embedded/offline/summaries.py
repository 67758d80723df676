"""Summaries without a model: chats, arcs and templates, quoted from what was said."""

from collections.abc import Mapping, Sequence
from typing import Any

from shared.adapters.embedded.offline.memories import extract_memories
from shared.adapters.embedded.offline.speech import (
    Sentence,
    collect_sentences,
    count_meaningful_words,
    select_central,
    split_sentences,
)

_MAX_LINES, _MAX_LINE_CHARS = 14, 240
_MAX_STRETCH_LINES, _MAX_THEMES = 4, 3
_MAX_TEMPLATE_SENTENCES = 6


def _quote_central(texts: Sequence[str], limit: int) -> list[str]:
    return select_central(texts, count_meaningful_words(texts), limit)


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


def extract_stretch(data: Mapping[str, Any]) -> dict[str, Any]:
    """Quote what the owner said that the rest is most about, and the facts that they stated."""
    said = [message for message in data["messages"] if message["sender"] == "owner"]
    sentences = [
        Sentence(text=text, segment=n, is_user=True, speaker="User")
        for n, message in enumerate(said)
        for text in split_sentences(message["text"])
    ]
    lines = [sentence.text for sentence in sentences]
    themes = count_meaningful_words(lines).most_common(_MAX_THEMES)
    return {
        "summary": " ".join(_quote_central(lines, _MAX_STRETCH_LINES)),
        "themes": [word for word, _ in themes],
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


def apply_template(data: Mapping[str, Any]) -> dict[str, Any]:
    """Quote what the conversation turns on as a list, which no template can shape; of a very long one, its overview."""
    texts = list(dict.fromkeys(sentence.text for sentence in collect_sentences(data)))
    quotes = _quote_central(texts, _MAX_TEMPLATE_SENTENCES) or split_sentences(data["overview"])
    return {"summary": "\n".join(f"- {text}" for text in quotes)}
