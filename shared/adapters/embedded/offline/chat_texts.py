"""Chat titles and summaries without a model: quoted from the messages."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from shared.adapters.embedded.offline.speech import (
    is_meaningful,
    select_central,
    split_sentences,
    split_words,
)

_OPENING = re.compile(r"(?:(?:hi|hello|hey|please|so|ok|okay|thanks)\b[\s,.!]*)+", re.IGNORECASE)
_MAX_TITLE_WORDS = 8
_MAX_LINES = 14
_MAX_LINE_CHARS = 240


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


def _list_lines(data: Mapping[str, Any]) -> Iterator[str]:
    for message in data["messages"]:
        for text in split_sentences(message["text"]):
            yield f"{message['sender'].capitalize()}: {text[:_MAX_LINE_CHARS]}"


def _list_meaningful_words(line: str) -> set[str]:
    """Return the words with meaning, without the speaker."""
    return {word.lower() for word in split_words(line.partition(": ")[2]) if is_meaningful(word)}
