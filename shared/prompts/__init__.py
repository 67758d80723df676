"""Words to models stand in Markdown files here; this fills their {{slots}}, strict both ways."""

import hashlib
import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
_SLOT = re.compile(r"\{\{(\w+)\}\}")


class SlotMismatch(KeyError):
    """A slot was left empty, or a value has no slot."""


def render(name: str, /, **values: str) -> str:
    """Fill the slots of the prompt `<function>/<name>`. Raises SlotMismatch."""
    if slots(name) != values.keys():
        differ = ", ".join(sorted(slots(name) ^ values.keys()))
        raise SlotMismatch(f"{name}: {differ}")
    return _SLOT.sub(lambda slot: values[slot[1]], _text(name))


@cache
def slots(name: str) -> frozenset[str]:
    """Name the slots of a prompt."""
    return frozenset(_SLOT.findall(_text(name)))


@cache
def version(name: str) -> str:
    """Return a short hash of the prompt's file; logged with every model call."""
    return hashlib.sha256(_text(name).encode()).hexdigest()[:12]


@cache
def _text(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()
