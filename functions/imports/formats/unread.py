"""Unread text: sentences of a file that its reader passes over, counted so that nothing is lost in silence."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from functions.imports.formats.drafts import Draft, LeftOut

_ADDRESS_MARKS = ("://", "@")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\d_]+")
"""A word; of languages that write none, a character."""
MIN_WORDS = 4
"""Of a line; less is a name, a label or a mark."""
MAX_TITLE_CHARS = 80
MAX_COMPARED = 200
"""Texts that are looked for in all that was said; others are read only where they are a line of it."""
MARKUP_SUFFIXES = ("html", "Html", "HTML")
"""The ends of names under which the same text stands once more."""


def count_unread_lines(lines: Sequence[str], title: str) -> list[LeftOut]:
    """Count what stands above, below or between turns and is neither their title nor a label."""
    unread = [
        line for line in lines if line.lstrip("# ") != title and _count_words(line) >= MIN_WORDS
    ]
    if not unread:
        return []
    words = sum(map(_count_words, unread))
    return [
        LeftOut(
            title=unread[0][:MAX_TITLE_CHARS],
            reason=f"{words} words that stand beside what was said are not read",
            words=words,
        )
    ]


def count_unread_fields(content: Any, drafts: Sequence[Draft]) -> list[LeftOut]:
    """Count the texts of JSON that are in no conversation, by the names under which they stand."""
    texts = [turn.text for draft in drafts for turn in draft.turns]
    labels = {turn.speaker for draft in drafts for turn in draft.turns} | {d.title for d in drafts}
    said = labels | {line.strip() for text in texts for line in text.split("\n")}
    everything, compared = "", 0
    counts: Counter[str] = Counter()
    for name, text in _walk(content):
        words = _count_words(text)
        if words < MIN_WORDS or said.issuperset(filter(None, map(str.strip, text.split("\n")))):
            continue
        if compared < MAX_COMPARED:
            everything = everything or " ".join(" ".join(text.split()) for text in texts)
            compared += 1
            if " ".join(text.split()) in everything:
                continue
        counts[name] += words
    return [
        LeftOut(title=name, reason=f"{words} words under this name are not read", words=words)
        for name, words in counts.items()
    ]


def _walk(content: Any) -> Iterator[tuple[str, str]]:
    """Yield each text with the nearest name above it; the nesting of a file is no depth of ours."""
    waiting = [("", content)]
    while waiting:
        name, found = waiting.pop()
        if isinstance(found, dict):
            waiting += [(str(key), item) for key, item in found.items()][::-1]
        elif isinstance(found, list):
            waiting += [(name, item) for item in reversed(found)]
        elif isinstance(found, str) and not name.endswith(MARKUP_SUFFIXES):
            yield name, found


def _count_words(text: str) -> int:
    """Count the words of a text; where digits are many, it is a date or an id."""
    written = text.split()
    bare = " ".join(w for w in written if not any(mark in w for mark in _ADDRESS_MARKS))
    digits = sum(map(str.isdecimal, bare))
    words = _WORD.findall(bare)
    return len(words) if 4 * digits < sum(map(len, words)) else 0
