"""Grave tools: those that move money, reach people, open, hand over or delete, by our examples in many languages (grave_tools.json).

The verb of a name says so in English; `rundmail`, `cash_out` and `manage_access` are told by what they are like.

Also called: risky tool detection.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import anyio

from shared import telemetry
from shared.domain.apps.app import ChatTool
from shared.domain.ids import UserId
from shared.security.tool_class import classify_tool

if TYPE_CHECKING:
    from shared.data.search.question_meaning import QuestionMeanings
    from shared.retrieval.examples import ExampleTable

Gravity = Literal["grave", "mild"]
GRAVE = 0.55
"""How much a tool leans to the grave ones, from 0 to 1, as of which it is one."""
READ_S = 15.0
"""For all tools of an app: each takes the encoder about a tenth of a second."""
_MAX_CHARS = 160
"""Of a description: what a tool does stands at its beginning."""
_WORD_ENDS = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])")
_GRAVE: Sequence[Gravity] = ("grave",)
_MILD: Sequence[Gravity] = ("mild",)
_FILE = Path(__file__).with_suffix(".json")


def list_examples() -> Sequence[tuple[Gravity, str]]:
    from shared.retrieval.examples import read_examples

    return read_examples(_FILE)


@cache
def load_table() -> "ExampleTable[Gravity]":
    from shared.retrieval.examples import read_table  # apps are listed without it

    return read_table(_FILE)


def measure_gravity(vector: Sequence[float]) -> float:
    """Return how much a tool leans to the grave ones, from 0 to 1."""
    return load_table().lean(vector, to=_GRAVE, against=_MILD)


def describe_tool(tool: ChatTool) -> str:
    """Return what a tool says of itself, in the form of the examples."""
    name = _WORD_ENDS.sub(" ", tool.name).strip().lower()
    return f"{name}: {' '.join(tool.description.split())[:_MAX_CHARS]}"


async def mark_grave(
    meanings: "QuestionMeanings", owner: UserId, tools: Sequence[ChatTool]
) -> tuple[ChatTool, ...]:
    """Return the tools as they were read. Where nothing compares them in time, their names decide alone."""
    marked = list(tools)
    with anyio.move_on_after(READ_S) as scope:
        try:
            for place, tool in enumerate(tools):
                if _is_open(tool):
                    leans = await meanings.compare(owner, describe_tool(tool), measure_gravity)
                    marked[place] = replace(tool, is_grave=leans is not None and leans >= GRAVE)
        except Exception as error:  # noqa: BLE001 - whatever fails, the exact rules decide
            telemetry.warning("tools_not_compared", error=type(error).__name__)
    if scope.cancelled_caught:
        telemetry.warning("tools_not_compared", error="TimeoutError")
    return tuple(marked)


def _is_open(tool: ChatTool) -> bool:
    """Tell whether a tool's name leaves open that it is grave: a verb that reads or is grave decides."""
    by_name = classify_tool(tool.name, read_only=False, destructive=False, method="POST")
    return by_name == "write"
