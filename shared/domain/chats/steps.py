"""Steps of an answer: the reasoning and the tool calls that led to it, as they were streamed.

Also called: chain of thought, thinking.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from shared.domain.provenance import Source
from shared.domain.value import value

MAX_ARGUMENTS_CHARS = 4_000
MAX_STEPS_CHARS = 100_000
"""Of the texts of all steps as JSON, at least their bytes: they fit a document beside the answer."""
CUT_NOTE = " […]"

CallState = Literal["done", "failed", "skipped", "abandoned"]
"""`skipped`: the owner did not allow the call. `abandoned`: the answer ended before the call did."""


@value
class ReasoningStep:
    """The model's reasoning between two calls."""

    text: str
    kind: Literal["reasoning"] = "reasoning"


@value
class CallStep:
    """A tool call. `cycle` counts the model calls of the answer, from 1; 0 came before the first.

    `arguments` is JSON text as the model wrote it, perhaps broken or cut; `output` is what people
    were shown; `source` is the source of the text it brought into the turn. `summary` says what was
    found, for later turns, where the owner wants that; until it is made, `found` is the beginning of the result.
    """

    call_id: str
    tool: str
    arguments: str
    cycle: int
    output: str = ""
    state: CallState = "abandoned"
    source: Source | None = None
    found: str = ""
    summary: str = ""
    kind: Literal["call"] = "call"


Step = ReasoningStep | CallStep


def shorten_steps(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Cut texts to what is stored: arguments come before outputs, these before what was found, reasoning last."""
    room = _Room()
    calls = [step for step in steps if isinstance(step, CallStep)]
    arguments = [room.take(call.arguments, most=MAX_ARGUMENTS_CHARS) for call in calls]
    outputs = [room.take(call.output) for call in calls]
    found = [room.take(call.found) for call in calls]
    shortened = iter(
        replace(call, arguments=text, output=output, found=result)
        for call, text, output, result in zip(calls, arguments, outputs, found, strict=True)
    )
    return tuple(
        next(shortened) if isinstance(step, CallStep) else replace(step, text=room.take(step.text))
        for step in steps
    )


@dataclass(slots=True)
class _Room:
    """The room that is left for texts, in characters of JSON."""

    chars: int = MAX_STEPS_CHARS

    def take(self, text: str, *, most: int = MAX_STEPS_CHARS) -> str:
        """Return the beginning that fits, at most `most` characters, with a note where it is cut."""
        kept, shown = text, text
        while kept and (len(kept) > most or _measure(shown) > self.chars):
            kept = text[: min(most, self.chars, len(kept) * 9 // 10)]
            shown = kept + CUT_NOTE
        self.chars -= _measure(shown) if kept else 0
        return shown if kept else ""


def _measure(text: str) -> int:
    return len(json.dumps(text)) - 2
