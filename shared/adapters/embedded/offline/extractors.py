"""Extractors: what answers each prompt that asks for a schema."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from shared.adapters.embedded.offline import answers, summaries
from shared.adapters.embedded.offline.memories import extract_memories, find_text_facts
from shared.adapters.embedded.offline.speech import count_meaningful_words
from shared.adapters.embedded.offline.structure import extract_structure
from shared.adapters.embedded.offline.tasks import read_talk

_MIN_MEANINGFUL_WORDS = 4


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
    has_content = (
        len(count_meaningful_words(texts)) >= _MIN_MEANINGFUL_WORDS
        or any(re.search(r"\d", text) for text in texts)
        or any([*talk.days, talk.nominees])
        or extract_memories(talk.sentences)
    )
    return {"discard": not has_content}


EXTRACTORS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "chat/summary": summaries.extract_summary,
    "chat/stretch": summaries.extract_stretch,
    "process_conversation/discard": discard,
    "process_conversation/extraction": extract,
    "process_conversation/template": summaries.apply_template,
    "process_conversation/text_facts": find_text_facts,
    "process_conversation/answer": answers.answer_from_data,
}
"""A prompt that is missing has a plain answer of its own where it is asked."""
