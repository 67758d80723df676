"""Discard rule: whether a short recording contains anything worth storing."""

import re
from collections.abc import Mapping
from typing import Any

from shared.adapters.embedded.offline.memories import extract_memories
from shared.adapters.embedded.offline.names import extract_names
from shared.adapters.embedded.offline.speech import count_meaningful_words
from shared.adapters.embedded.offline.tasks import extract_action_items, read_talk

_MIN_MEANINGFUL_WORDS = 4


def discard(data: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what has a task, a fact, a day, a number, a name, or a few words with meaning."""
    talk = read_talk(data)
    has_content = (
        len(count_meaningful_words(talk.sentences)) >= _MIN_MEANINGFUL_WORDS
        or any(re.search(r"\d", sentence.text) for sentence in talk.sentences)
        or any(talk.days)
        or any(extract_names(talk.sentences))
        or any(extract_action_items(talk, {}))
        or extract_memories(talk.sentences)
    )
    return {"discard": not has_content}
