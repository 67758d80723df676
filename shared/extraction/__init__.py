"""What a transcript tells without a model: found and quoted, never composed. English rules.

EXTRACTORS answers the prompts of process_conversation in their schemas' shape; the offline model
uses it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from shared.extraction.memories import memories
from shared.extraction.structure import structure
from shared.extraction.worth import discard

EXTRACTORS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "process_conversation/discard": discard,
    "process_conversation/structure": structure,
    "process_conversation/memories": memories,
}
