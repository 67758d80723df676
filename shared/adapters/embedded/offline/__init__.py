"""What a text tells without a model: found and quoted, never composed.

Facts about the owner and what is not meant to last are told apart in five languages; the other rules
are English.

EXTRACTORS answers the prompts that ask for a schema, in that schema's shape; the offline model uses
it.
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
