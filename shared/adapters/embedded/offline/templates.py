"""Summaries by a template without a model: central sentences, which no template can shape."""

from collections.abc import Mapping
from typing import Any

from shared.adapters.embedded.offline.speech import (
    collect_sentences,
    count_meaningful_words,
    select_central,
    split_sentences,
)

_MAX_SENTENCES = 6


def apply_template(data: Mapping[str, Any]) -> dict[str, Any]:
    """Quote what the conversation turns on as a list; of a very long one, its overview."""
    sentences = collect_sentences(data)
    texts = list(dict.fromkeys(sentence.text for sentence in sentences))
    quotes = select_central(texts, count_meaningful_words(sentences), _MAX_SENTENCES)
    return {
        "summary": "\n".join(f"- {text}" for text in quotes or split_sentences(data["overview"]))
    }
