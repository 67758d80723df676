"""Steps of an answer, collected from the events of its run."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from shared.domain.chats.run import ReasoningText, RunEvent, Stage, ToolEnded, ToolStarted
from shared.domain.chats.steps import CallState, CallStep, ReasoningStep, Step, shorten_steps

_CYCLE = Stage("thinking")
"""With it each model call begins."""


def collect_steps(events: Sequence[RunEvent]) -> tuple[Step, ...]:
    """Return the reasoning and the calls in the order in which they were streamed, cut to be stored."""
    ends = {event.call_id: event for event in events if isinstance(event, ToolEnded)}
    shown = [e for e in events if e == _CYCLE or isinstance(e, ReasoningText | ToolStarted)]
    return shorten_steps(list(_list_steps(shown, ends)))


def _list_steps(events: Sequence[RunEvent], ends: Mapping[str, ToolEnded]) -> Iterator[Step]:
    """Yield steps, with the pieces of reasoning joined that neither a call nor a cycle separates.

    A call stands where it began first, as it was made last.
    """
    starts = {event.call_id: event for event in events if isinstance(event, ToolStarted)}
    cycle = 0
    for _, group in groupby(events, key=type):
        pieces = list(group)
        cycle += sum(isinstance(piece, Stage) for piece in pieces)
        reasoning = "".join(piece.text for piece in pieces if isinstance(piece, ReasoningText))
        if reasoning:
            yield ReasoningStep(text=reasoning)
        for piece in pieces:
            if isinstance(piece, ToolStarted) and (start := starts.pop(piece.call_id, None)):
                yield _build_call(start, ends.get(piece.call_id), cycle)


def _build_call(started: ToolStarted, ended: ToolEnded | None, cycle: int) -> CallStep:
    return CallStep(
        call_id=started.call_id,
        tool=started.tool,
        arguments=started.arguments,
        cycle=cycle,
        output=ended.output if ended else "",
        found=ended.found if ended else "",
        state=_find_state(ended),
        source=ended.source if ended else None,
    )


def _find_state(ended: ToolEnded | None) -> CallState:
    if ended is None:
        return "abandoned"
    if ended.skipped:
        return "skipped"
    return "failed" if ended.failed else "done"
