"""What a chat tells without a model: its title and its summary, quoted from what was said."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from shared.extraction.speech import is_telling, sentences_of, words

_OPENING = re.compile(r"(?:(?:hi|hello|hey|please|so|ok|okay|thanks)\b[\s,.!]*)+", re.IGNORECASE)
_TITLE_WORDS = 8
_LINES = 14
_LINE_CHARS = 240


def title(data: Mapping[str, Any]) -> dict[str, Any]:
    """Quote the first sentence of the question that says something, without its opening."""
    asked = sentences_of(data["question"])
    telling = (text for text in asked if any(map(is_telling, words(text))))
    quoted = next(telling, next(iter(asked), "")).split()
    short = " ".join(quoted[:_TITLE_WORDS]).rstrip(".,;:!")
    bare = _OPENING.sub("", short, count=1) or short
    cut = "…" if len(quoted) > _TITLE_WORDS else ""
    return {"title": f"{bare[:1].upper()}{bare[1:]}{cut}"}


def summary(data: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the few lines, old and new, whose words the others use most, in their order."""
    lines = list(dict.fromkeys([*data["summary"].splitlines(), *_lines(data)]))
    used = Counter(word for line in lines for word in _telling(line))
    ranked = sorted(range(len(lines)), key=lambda n: (-_weight(lines[n], used), n))
    return {"summary": "\n".join(lines[n] for n in sorted(ranked[:_LINES]))}


def _lines(data: Mapping[str, Any]) -> Iterator[str]:
    for said in data["messages"]:
        for text in sentences_of(said["text"]):
            yield f"{said['sender'].capitalize()}: {text[:_LINE_CHARS]}"


def _weight(line: str, used: Counter[str]) -> float:
    """Sum the words, damped by length, so that neither a cry nor a ramble wins."""
    telling = _telling(line)
    return sum(used[word] for word in telling) / (len(telling) + 4)


def _telling(line: str) -> set[str]:
    """Return the words that carry meaning, without who said them."""
    return {word.lower() for word in words(line.partition(": ")[2]) if is_telling(word)}
