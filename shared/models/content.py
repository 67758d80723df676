"""Content of an answer, apart from what models and servers leave in it: thoughts, calls, control text; pure.

Thoughts stand at its beginning, calls at its end. A model that only speaks of such tags keeps them: a
thought is one only before the first word, and a call only if it is one of an offered tool that nobody wrote before.
"""

import re
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import Any

from shared.domain.models.model import ReasoningDelta, TextDelta, TextWithdrawn, ToolCall
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
    "<tools>",
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
    "<｜｜DSML",
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
_CALL_BEGINNINGS = (
    "{",
    "[{",
    "[\n",
    "```json\n{",
    "```json\n[",
    "```\n{",
    "```\n[",
    "```tool_c",
    "to=functions.",
    "commentary to=functions.",
)
"""Beginnings of an answer that is a call and nothing else, as small models write it."""
_ENDINGS = ("</s>", "<eos>", "<|eot|>", "[/INST]")
"""Tokens that are text but at the very end."""
_BARE_THOUGHT, _BARE_THOUGHT_END = "analysis", "assistantfinal"
"""A thought of gpt-oss whose control tokens were dropped: a capital letter follows at once."""
_MARKS = (*_CONTROL, *_CALLS, *_LONE_ENDS, *_ENDINGS)
_MARK = re.compile("|".join(map(re.escape, _MARKS)), re.IGNORECASE)
_KINDS = {
    mark.lower(): kind
    for kind, marks in (
        ("control", _CONTROL),
        ("call", _CALLS),
        ("thought end", _LONE_ENDS),
        ("ending", _ENDINGS),
    )
    for mark in marks
}
_BEGINNINGS = (*_THOUGHTS, *_CONTROL, _BARE_THOUGHT)
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
        self._call_beginnings = (*_CALL_BEGINNINGS, *(f"[{name}(" for name in names))
        self._is_quoted = is_quoted
        self._pending = ""
        self._state: _State = self._read_unopened_thought if thinks_first else self._read_beginning
        self._is_in_text = False
        self._thought_end = _LONE_ENDS[0]
        self._unopened: list[str] = []
        self._has_thought = False
        self._last_char = ""

    @property
    def has_thought(self) -> bool:
        """Tell whether a thought ended in it; one that was never opened is none without its end."""
        return self._has_thought

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
        text = "" if self.calls or rest in _ENDINGS else _CONTROL_MARK.sub("", rest)
        return [TextDelta(text)] if text else []

    def give_up(self) -> Sequence[ContentEvent]:
        """Return the rest of an answer that broke off; half a call is no text."""
        rest, self._pending = self._pending, ""
        return [TextDelta(rest)] if rest and self._is_in_text else []

    def _read_beginning(self, events: list[ContentEvent]) -> "_State":
        """Look at the first characters, which may become a thought or calls."""
        start = self._pending.lstrip()
        if self._open_thought(start):
            return self._read_thought
        for mark in _CONTROL:
            if start.startswith(mark):
                self._pending = start[len(mark) :]
                return self._read_beginning(events)
        may_begin = any(mark.lower().startswith(start.lower()) for mark in _BEGINNINGS)
        if may_begin or (self._names and self._may_be_calls(start)):
            return self._read_beginning
        if self._has_thought:
            self._pending = start
        return self._read_text

    def _open_thought(self, start: str) -> bool:
        """Tell whether a thought begins, and leave out what opens it."""
        if start[:8] == _BARE_THOUGHT and start[8:9].isupper():
            self._thought_end, self._pending = _BARE_THOUGHT_END, start[8:]
            return True
        lowered = start.lower()
        opener = next((mark for mark in _THOUGHTS if lowered.startswith(mark.lower())), None)
        if opener is not None:
            self._thought_end, self._pending = _THOUGHTS[opener], start[len(opener) :]
        return opener is not None

    def _may_be_calls(self, start: str) -> bool:
        return len(start) <= _MAX_HELD_CHARS and any(
            start.startswith(beginning) or beginning.startswith(start)
            for beginning in self._call_beginnings
        )

    def _read_thought(self, events: list[ContentEvent]) -> "_State":
        end = self._pending.lower().find(self._thought_end.lower())
        before = self._pending if end < 0 else self._pending[:end]
        if end >= 0:
            self._pending = self._pending[end + len(self._thought_end) :]
            self._has_thought = True
        else:
            before, self._pending = _split_off_begun(before, (self._thought_end,))
        if before:
            events.append(ReasoningDelta(before))
        return self._read_beginning if end >= 0 else self._read_thought

    def _read_unopened_thought(self, events: list[ContentEvent]) -> "_State":
        """Keep what may be the answer after all, where no end of a thought comes."""
        state = self._read_thought(events)
        self._unopened += [event.text for event in events if isinstance(event, ReasoningDelta)]
        return self._read_unopened_thought if state == self._read_thought else state

    def _read_text(self, events: list[ContentEvent]) -> "_State":
        while (match := _MARK.search(self._pending)) is not None:
            pending, mark, kind = self._pending, match[0], _KINDS[match[0].lower()]
            before, after = pending[: match.start()], pending[match.end() :]
            if kind == "ending" and not after:
                self._say(before, events)
                self._pending = mark
                return self._read_text
            last_char = before[-1:] or self._last_char
            is_text = last_char in ("`", '"', "'") or kind == "ending"
            is_text = is_text or (kind == "call" and not self._names)
            self._pending = after
            if is_text:
                self._say(before + mark, events)
            elif kind == "thought end":
                events.append(TextWithdrawn())
                events += [ReasoningDelta(before)] if before else []
                self._has_thought = True
                return self._read_beginning
            else:
                self._say(before, events)
                if kind == "call":
                    self._pending = mark + after
                    return self._hold_calls
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


def _split_off_begun(text: str, marks: tuple[str, ...]) -> tuple[str, str]:
    """Split a text before what may be the beginning of a mark."""
    beginnings = _list_beginnings(marks)
    for length in range(min(len(text), _MAX_MARK_CHARS), 0, -1):
        if text[-length:].lower() in beginnings:
            return text[:-length], text[-length:]
    return text, ""


@lru_cache(maxsize=100)
def _list_beginnings(marks: tuple[str, ...]) -> frozenset[str]:
    return frozenset(mark.lower()[:end] for mark in marks for end in range(1, len(mark) + 1))
