"""Offline model: an extractive demo that quotes English text, and never composes any.

It needs no key and no network. Its rules know English only: of other languages it quotes what a search
finds, but extracts no facts, tasks or dates. EXTRACTORS answers the prompts that ask for a schema.
"""

from collections.abc import Callable, Mapping
from typing import Any

from shared.adapters.embedded.offline import chat_texts
from shared.adapters.embedded.offline.discard import discard
from shared.adapters.embedded.offline.memories import extract_memories
from shared.adapters.embedded.offline.structure import extract_structure

EXTRACTORS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "process_conversation/discard": discard,
    "process_conversation/structure": extract_structure,
    "process_conversation/memories": extract_memories,
    "chat/title": chat_texts.extract_title,
    "chat/summary": chat_texts.extract_summary,
}
