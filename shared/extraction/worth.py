"""Whether a short recording holds anything."""

import re
from collections.abc import Mapping
from typing import Any

from shared.extraction.calendar import moment, started
from shared.extraction.memories import memories
from shared.extraction.names import names
from shared.extraction.speech import counts, sentences
from shared.extraction.tasks import action_items

_ENOUGH_WORDS = 4


def discard(data: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what has a task, a fact, a day, a number, a name, or a few words with meaning."""
    said = sentences(data)
    now = started(data)
    text = " ".join(sentence.text for sentence in said)
    worth = (
        len(counts(said)) >= _ENOUGH_WORDS
        or re.search(r"\d", text)
        or moment(text, now)
        or any(names(said))
        or any(action_items(said, now))
        or memories(data)["memories"]
    )
    return {"discard": not worth}
