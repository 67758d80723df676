"""Chat titles and summaries without a model: quoted from the messages."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shared.adapters.embedded.offline.memories import extract_memories
from shared.adapters.embedded.offline.speech import (
    Sentence,
    is_meaningful,
    select_central,
    split_sentences,
    split_words,
)

_OPENING = re.compile(r"(?:(?:hi|hello|hey|please|so|ok|okay|thanks)\b[\s,.!]*)+", re.IGNORECASE)
_MAX_TITLE_WORDS = 8
_MAX_LINES = 14
_MAX_LINE_CHARS = 240
_MAX_STRETCH_LINES = 4
_MAX_THEMES = 3


def extract_title(data: Mapping[str, Any]) -> dict[str, Any]:
    """Quote the question's first sentence with content, without its opening."""
    sentences = split_sentences(data["question"])
    informative_sentences = (
        text for text in sentences if any(map(is_meaningful, split_words(text)))
    )
    title_words = next(informative_sentences, next(iter(sentences), "")).split()
    short = " ".join(title_words[:_MAX_TITLE_WORDS]).rstrip(".,;:!")
    title_start = _OPENING.sub("", short, count=1) or short
    ellipsis = "…" if len(title_words) > _MAX_TITLE_WORDS else ""
    return {"title": f"{title_start[:1].upper()}{title_start[1:]}{ellipsis}"}


def extract_summary(data: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the few lines, old and new, whose words occur most in the others, in their order."""
    lines = list(dict.fromkeys([*data["summary"].splitlines(), *_list_lines(data)]))
    word_counts = Counter(word for line in lines for word in _list_meaningful_words(line))
    return {"summary": "\n".join(select_central(lines, word_counts, _MAX_LINES))}


def extract_stretch(data: Mapping[str, Any]) -> dict[str, Any]:
    """Quote what the owner said that the rest is most about, and the facts that they stated."""
    said = [message for message in data["messages"] if message["sender"] == "owner"]
    lines = [line for message in said for line in split_sentences(message["text"])]
    word_counts = Counter(word for line in lines for word in _list_meaningful_words(f": {line}"))
    return {
        "summary": " ".join(select_central(lines, word_counts, _MAX_STRETCH_LINES)),
        "themes": [word for word, _ in word_counts.most_common(_MAX_THEMES)],
        "statements": [
            _to_statement(fact, said) for fact in extract_memories(_list_sentences(said))
        ],
    }


def _list_sentences(said: Sequence[Mapping[str, Any]]) -> list[Sentence]:
    """Return the owner's messages as the transcript in which facts are looked for."""
    return [
        Sentence(text=text, segment=n, is_user=True, speaker="User")
        for n, message in enumerate(said)
        for text in split_sentences(message["text"])
    ]


def _to_statement(fact: Mapping[str, Any], said: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "text": fact["content"],
        "use": "fact",
        "message": said[fact["segment"]]["number"],
        "quote": fact["evidence"],
        "kind": fact["kind"],
        "timing": "now",
    }


def _list_lines(data: Mapping[str, Any]) -> Iterator[str]:
    for message in data["messages"]:
        for text in split_sentences(message["text"]):
            yield f"{message['sender'].capitalize()}: {text[:_MAX_LINE_CHARS]}"


def _list_meaningful_words(line: str) -> set[str]:
    """Return the words with meaning, without the speaker."""
    return {word.lower() for word in split_words(line.partition(": ")[2]) if is_meaningful(word)}
