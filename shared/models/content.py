"""Content of an answer, apart from what models and servers leave in it: thoughts, calls, control text; pure.

Thoughts stand at its beginning, calls at its end. A model that only speaks of such tags keeps them: a
thought is one only before the first word, and a call only if it is one of an offered tool that nobody wrote before.
"""

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

from shared.domain.model import ReasoningDelta, TextDelta, TextWithdrawn, ToolCall
from shared.models.calls import find_written_calls

_THOUGHTS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<|channel|>analysis<|message|>": "<|end|>",
    "<|channel>thought": "<channel|>",
}
"""What opens a thought, and what ends it, by the templates of models that think in their content."""
_LONE_ENDS = ("</think>", "</thinking>", "[/THINK]", "◁/think▷", "</seed:think>")
"""Ends of thoughts that a template may have opened in the prompt, where no reader sees it."""
_CALLS = (
    "<tool_call>",
    "<tool_calls>",
    "<toolcall>",
    "<function=",
    "<function_call>",
    "<function_calls>",
    "<functioncall>",
    "<invoke ",
    "<minimax:tool_call>",
    "<|tool_call|>",
    "<|tool_call>",
    "<|tool_calls_section_begin|>",
    "<|python_tag|>",
    "<|START_ACTION|>",
    "<|channel|>commentary",
    "<｜tool▁calls▁begin｜>",
    "<｜DSML｜",
    "[TOOL_CALLS]",
    "[TOOL_REQUEST]",
    "functools[",
)
"""What opens calls."""
_CONTROL = (
    "<|im_end|>",
    "<|im_start|>assistant",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end|>",
    "<|return|>",
    "<|start|>assistant",
    "<|channel|>final<|message|>",
    "<|channel|>commentary<|message|>",
    "<|message|>",
    "<|START_RESPONSE|>",
    "<|END_RESPONSE|>",
    "<end_of_turn>",
    "<｜end▁of▁sentence｜>",
    "<|begin_of_solution|>",
    "<|end_of_solution|>",
)
"""Tokens of templates that are no text."""
_MAY_BE_CALLS = re.compile(
    r"\s*(?:\{|\[\s*(?:\{|\Z)|```(?:json|tool_\w+)?\s*(?:[\[{]|\Z)|`{1,2}\Z|```[a-z_]{1,9}\Z)"
)
"""Beginning of an answer that is a call and nothing else, as small models write it."""
_MARKS = (*_CONTROL, *_CALLS, *_LONE_ENDS)
_MARK = re.compile("|".join(map(re.escape, _MARKS)))
_BEGINNINGS = (*_THOUGHTS, *_CONTROL)
_INITIALS = frozenset(mark[0] for mark in (*_MARKS, *_THOUGHTS))
_MAX_MARK_CHARS = max(map(len, _MARKS))
_MAX_HELD_CHARS = 100_000
"""Of what may be calls: more is text."""
_QUOTE_CHARS = 80
"""So much of what looks like a call is looked for in what the model was given."""

ContentEvent = TextDelta | ReasoningDelta | TextWithdrawn


class ContentReader:
    """Reads the content of one answer, in any pieces.

    With `names`, calls of these tools may be written in it; `is_quoted` tells whether a text was in
    what the model was given. One that `thinks_first` begins with a thought that no tag opens.
    """

    def __init__(
        self,
        *,
        names: Collection[str] = (),
        is_quoted: Callable[[str], bool] = lambda _: False,
        thinks_first: bool = False,
    ) -> None:
        self.calls: list[ToolCall] = []
        self._names = names
        self._is_quoted = is_quoted
        self._pending = ""
        self._state: _State = self._read_unopened_thought if thinks_first else self._read_beginning
        self._is_in_text = False
        self._thought_end = _LONE_ENDS[0]
        self._unopened: list[str] = []
        self._has_thought = False
        self._last_char = ""

    def feed(self, piece: str) -> Sequence[ContentEvent]:
        """Return what is certain with this piece."""
        if self._is_in_text and not self._pending and _INITIALS.isdisjoint(piece):
            self._last_char = piece[-1:]
            return (TextDelta(piece),)
        self._pending += piece
        events: list[ContentEvent] = []
        state = None
        while state != self._state:
            state = self._state
            self._state = state(events)
            self._is_in_text = self._state == self._read_text
        return events

    def flush(self) -> Sequence[ContentEvent]:
        """Return the rest at the end of the answer, and find the calls that are written in it."""
        rest, self._pending = self._pending, ""
        if self._state == self._read_thought:
            return [ReasoningDelta(rest)] if rest else []
        if self._state == self._read_unopened_thought:  # none came: it was the answer
            rest = "".join(self._unopened) + rest
        elif self._names and self._state != self._read_text and not self._is_quotation(rest):
            self.calls = find_written_calls(rest, self._names)
        text = "" if self.calls else _CONTROL_MARK.sub("", rest)
        return [TextDelta(text)] if text else []

    def _read_beginning(self, events: list[ContentEvent]) -> "_State":
        """Look at the first characters, which may become a thought or calls."""
        start = self._pending.lstrip()
        for opener, end in _THOUGHTS.items():
            if start.startswith(opener):
                self._thought_end, self._pending = end, start[len(opener) :]
                return self._read_thought
        for mark in _CONTROL:
            if start.startswith(mark):
                self._pending = start[len(mark) :]
                return self._read_beginning(events)
        if not start or any(mark.startswith(start) for mark in _BEGINNINGS):
            return self._read_beginning
        if self._names and _MAY_BE_CALLS.match(start) and len(start) <= _MAX_HELD_CHARS:
            return self._read_beginning
        if self._has_thought:
            self._pending = start
        return self._read_text

    def _read_thought(self, events: list[ContentEvent]) -> "_State":
        before, end, after = self._pending.partition(self._thought_end)
        if end:
            self._pending, self._has_thought = after, True
        else:
            before, self._pending = _split_off_begun(before, (self._thought_end,))
        if before:
            events.append(ReasoningDelta(before))
        return self._read_beginning if end else self._read_thought

    def _read_unopened_thought(self, events: list[ContentEvent]) -> "_State":
        """Keep what may be the answer after all, where no end of a thought comes."""
        state = self._read_thought(events)
        self._unopened += [event.text for event in events if isinstance(event, ReasoningDelta)]
        return self._read_unopened_thought if state == self._read_thought else state

    def _read_text(self, events: list[ContentEvent]) -> "_State":
        while (match := _MARK.search(self._pending)) is not None:
            before, mark, after = (
                match.string[: match.start()],
                match[0],
                match.string[match.end() :],
            )
            last_char = before[-1:] or self._last_char
            is_spoken_of = last_char in ("`", '"', "'") or (mark in _CALLS and not self._names)
            if mark in _LONE_ENDS and not is_spoken_of:
                events += [ReasoningDelta(before)] if before else []
                events.append(TextWithdrawn())
                self._pending, self._has_thought = after, True
                return self._read_beginning
            self._say(before + mark if is_spoken_of else before, events)
            if mark in _CALLS and not is_spoken_of:
                self._pending = mark + after
                return self._hold_calls
            self._pending = after
        text, self._pending = _split_off_begun(self._pending, _MARKS)
        self._say(text, events)
        return self._read_text

    def _say(self, text: str, events: list[ContentEvent]) -> None:
        if text:
            self._last_char = text[-1]
            events.append(TextDelta(text))

    def _hold_calls(self, events: list[ContentEvent]) -> "_State":
        if len(self._pending) > _MAX_HELD_CHARS:
            events.append(TextDelta(self._pending))
            self._pending = ""
            return self._read_text
        return self._hold_calls

    def _is_quotation(self, text: str) -> bool:
        return self._is_quoted(text.strip()[:_QUOTE_CHARS])


_State = Callable[[list[ContentEvent]], Any]
_CONTROL_MARK = re.compile("|".join(map(re.escape, _CONTROL)))


def _split_off_begun(text: str, marks: Collection[str]) -> tuple[str, str]:
    """Split a text before what may be the beginning of a mark."""
    for length in range(min(len(text), _MAX_MARK_CHARS), 0, -1):
        if text[-length] in _INITIALS and any(mark.startswith(text[-length:]) for mark in marks):
            return text[:-length], text[-length:]
    return text, ""
