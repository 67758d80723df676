"""Document values as JSON text: lists are tagged, so that times and bytes can stand beside them."""

import base64
import json
from datetime import UTC, datetime
from typing import Any


def dumps(value: Any) -> str:
    return json.dumps(_tagged(value), ensure_ascii=False, separators=(",", ":"))


def loads(text: str) -> Any:
    return _plain(json.loads(text))


def _tagged(value: Any) -> Any:
    match value:
        case datetime():
            return ["time", value.astimezone(UTC).isoformat()]
        case bytes():
            return ["bytes", base64.b64encode(value).decode()]
        case list() | tuple():
            return ["list", *map(_tagged, value)]
        case dict():
            return {name: _tagged(item) for name, item in value.items()}
        case _:
            return value


def _plain(value: Any) -> Any:
    match value:
        case ["time", text]:
            return datetime.fromisoformat(text)
        case ["bytes", text]:
            return base64.b64decode(text)
        case ["list", *items]:
            return [_plain(item) for item in items]
        case dict():
            return {name: _plain(item) for name, item in value.items()}
        case _:
            return value
