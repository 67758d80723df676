"""Tool pins: the hash of a tool as its user saw it, and a schema without what they did not see.

Also called: tool poisoning defence, rug pull defence.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from shared.domain.apps.app import App, ChatTool
from shared.domain.chats.consent import Grant, build_tool_key

PIN_CHARS = 22
"""132 bits: nobody finds two tools with the same pin."""
_SHOWN_KEYWORDS = ("type", "required", "properties", "items", "anyOf", "oneOf", "allOf")


def compute_pin(app: App, tool: ChatTool) -> str:
    """Hash all that a user allows with a tool: what it is called, says, takes, does and where."""
    seen = [
        app.name,
        tool.name,
        tool.description,
        tool.parameters,
        tool.method,
        tool.endpoint,
        tool.transport,
        tool.read_only,
        tool.destructive,
    ]
    text = json.dumps(seen, sort_keys=True, ensure_ascii=False)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return base64.urlsafe_b64encode(digest).decode()[:PIN_CHARS]


def compute_pins(app: App) -> dict[str, str]:
    """Return the pins of all tools of an app, by their names."""
    return {tool.name: compute_pin(app, tool) for tool in app.chat_tools}


def build_grants(app: App) -> dict[str, Grant]:
    """Return the grants of an app whose tools are seen as they are now."""
    return {build_tool_key(name): Grant(pin=pin) for name, pin in compute_pins(app).items()}


def strip_schema_texts(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the bare structure of a schema: types and names that are identifiers, no other text."""
    return {key: _strip(key, schema[key]) for key in _SHOWN_KEYWORDS if key in schema}


def _strip(keyword: str, part: Any) -> Any:
    if keyword in ("type", "required"):
        return _keep_identifiers(part)
    if keyword == "properties" and isinstance(part, Mapping):
        return {
            name: strip_schema_texts(property_schema)
            for name, property_schema in part.items()
            if _is_identifier(name) and isinstance(property_schema, Mapping)
        }
    if isinstance(part, list):
        return [strip_schema_texts(item) for item in part if isinstance(item, Mapping)]
    return strip_schema_texts(part) if isinstance(part, Mapping) else {}


def _keep_identifiers(part: Any) -> Any:
    names = part if isinstance(part, list) else [part]
    kept = [name for name in names if isinstance(name, str) and _is_identifier(name)]
    return kept if isinstance(part, list) else "".join(kept) or "object"


def _is_identifier(name: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name) is not None
