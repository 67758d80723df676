"""Discard rule: whether a short recording contains anything worth storing."""

import re
from collections.abc import Mapping
from typing import Any

from shared.adapters.embedded.offline.calendar import parse_moment, parse_start
from shared.adapters.embedded.offline.memories import extract_memories
from shared.adapters.embedded.offline.names import extract_names
from shared.adapters.embedded.offline.speech import collect_sentences, count_meaningful_words
from shared.adapters.embedded.offline.tasks import extract_action_items

_MIN_MEANINGFUL_WORDS = 4


def discard(data: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what has a task, a fact, a day, a number, a name, or a few words with meaning."""
    sentences = collect_sentences(data)
    now = parse_start(data)
    text = " ".join(sentence.text for sentence in sentences)
    has_content = (
        len(count_meaningful_words(sentences)) >= _MIN_MEANINGFUL_WORDS
        or re.search(r"\d", text)
        or parse_moment(text, now)
        or any(extract_names(sentences))
        or any(extract_action_items(sentences, now))
        or extract_memories(data)
    )
    return {"discard": not has_content}
