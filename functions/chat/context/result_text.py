"""Result text: data that a tool returned, written for a model as TOON where that is shorter than JSON.

Also called: tool output, tool results.
"""

from importlib import import_module
from typing import Any

import anyio.to_thread

from shared.domain.apps.tool_data import ToolData, to_compact_json
from shared.domain.models.tokens import estimate_tokens


def write_for_model(data: ToolData) -> str:
    """Return text as it is, and data without its hidden fields, in the shorter of both forms."""
    content = data.visible_content
    if isinstance(content, str):
        return content
    compact = to_compact_json(content)
    toon = _to_toon(content)
    return toon if toon and estimate_tokens(toon) < estimate_tokens(compact) else compact


async def load_encoder() -> None:
    """Load the encoder of TOON beside other waits: it takes a process 40 ms, once."""
    await anyio.to_thread.run_sync(import_module, "toon_format")


def _to_toon(content: Any) -> str | None:
    """Return None where TOON cannot write it, such as a text with half a surrogate pair."""
    from toon_format import encode

    try:
        return encode(content)
    except (TypeError, ValueError):
        return None
