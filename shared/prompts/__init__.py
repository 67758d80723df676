"""Prompts: Markdown files with {{slots}}; a missing or unknown slot raises.

Also called: prompt templates, prompt versions.
"""

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from shared.domain.models.model import Prompt

FOLDER = Path(__file__).parent
_SLOT = re.compile(r"\{\{(\w+)\}\}")


class SlotMismatch(KeyError):
    """A slot was left empty, or a value has no slot."""


def render(name: str, /, **values: str) -> str:
    """Fill the slots of the prompt `<function>/<name>`. Raises SlotMismatch."""
    if list_slots(name) != values.keys():
        mismatch = ", ".join(sorted(list_slots(name) ^ values.keys()))
        raise SlotMismatch(f"{name}: {mismatch}")
    return _SLOT.sub(lambda slot: values[slot[1]], _read_text(name))


def build_prompt(
    name: str, data: Mapping[str, Any], *, answer_tokens: int, is_divisible: bool = False
) -> Prompt:
    """Ask the prompt `<function>/<name>`, which has no slots, about `data`; see Prompt."""
    return Prompt(
        name=name,
        version=compute_version(name),
        instructions=render(name),
        data=data,
        answer_tokens=answer_tokens,
        is_divisible=is_divisible,
    )


@cache
def list_slots(name: str) -> frozenset[str]:
    """Name the slots of a prompt."""
    return frozenset(_SLOT.findall(_read_text(name)))


@cache
def compute_version(name: str) -> str:
    """Return a short hash of the prompt's file; logged with every model call."""
    return hashlib.sha256(_read_text(name).encode()).hexdigest()[:12]


@cache
def _read_text(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()
