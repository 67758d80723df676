"""Extractors of chat: what answers its prompts that ask for a schema."""

from collections.abc import Callable, Mapping
from typing import Any

from shared.adapters.embedded.offline import chat_texts

EXTRACTORS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "chat/notes": chat_texts.extract_title,
    "chat/summary": chat_texts.extract_summary,
    "chat/stretch": chat_texts.extract_stretch,
}
