"""Extractors of chat: what answers its prompts that ask for a schema."""

from collections.abc import Callable, Mapping
from typing import Any

from shared.adapters.embedded.offline import chat_texts
from shared.adapters.embedded.offline.crisis import judge_crisis

EXTRACTORS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "chat/crisis": judge_crisis,
    "chat/rating": chat_texts.rate_nothing,
    "chat/notes": chat_texts.extract_title,
    "chat/summary": chat_texts.extract_summary,
    "chat/stretch": chat_texts.extract_stretch,
}
