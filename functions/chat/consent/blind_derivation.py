"""Blind derivation: the arguments of a call, written anew by a model that sees the owner's message alone.

Such arguments depend on nothing that was read, so that they tell its maker no more than that the call was
made, and of which tool.

Also called: dual model pattern, quarantined model.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from shared import prompts
from shared.domain.models.model import ToolSpec
from shared.models.data_room import fit_prompt
from shared.ports import ChatModel

MAX_DECLARATION_CHARS = 1_000
MAX_PURPOSE_CHARS = 300
_PROMPT = "chat/derive"
_ANSWER_TOKENS = 400


class DerivedOutput(BaseModel):
    """Arguments as JSON text; empty where the message does not say them."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    arguments: str = ""


async def derive_arguments(
    model: ChatModel, message: str, spec: ToolSpec, *, local_time: datetime
) -> Mapping[str, Any] | None:
    """Return arguments that the message gives for a tool, unchecked; None where it gives none.

    Raises what the model raises.
    """
    prompt = prompts.build_prompt(
        _PROMPT,
        {
            "message": message,
            "tool": _declare(spec),
            "now": local_time.replace(microsecond=0).isoformat(),
        },
        answer_tokens=_ANSWER_TOKENS,
    )
    output = await model.complete_structured(
        "fast", fit_prompt(model, "fast", prompt), DerivedOutput
    )
    return _parse(output.arguments)


def _declare(spec: ToolSpec) -> str:
    """Write what a tool takes behind the beginning of what it is for: the end may be cut."""
    parameters = json.dumps(spec.parameters, ensure_ascii=False, separators=(",", ":"))
    purpose = spec.description[:MAX_PURPOSE_CHARS]
    return f"{spec.name}: {purpose}\n{parameters}"[:MAX_DECLARATION_CHARS]


def _parse(text: str) -> Mapping[str, Any] | None:
    """Read the object that a text begins with: small models write on."""
    try:
        arguments, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except ValueError:
        return None
    return arguments if isinstance(arguments, dict) and arguments else None
