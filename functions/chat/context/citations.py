"""Citations: markers renumbered by first use in an answer, and read back by the numbers of the chat.

A model cites by the numbers that documents have in the chat. While its text streams, markers are renumbered, so
that `[1]` is the first source from the first word on; the answer is stored as it was streamed.

Also called: grounding, source attribution, footnotes.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from functions.chat.context.numbering import Numbering, Source, list_cited
from shared.domain.chats.chat import Message

_NUMBERS = "[0-9]{1,6}(?:, ?[0-9]{1,6}){0,9}"
_BRACKETED = re.compile(rf"\[({_NUMBERS})\]")
_TOKEN = re.compile(rf"(?P<ticks>`{{1,3}})|(?P<newline>\n)| ?\[(?P<numbers>{_NUMBERS})\](?!\()")
_PARTIAL_MARKER = re.compile(rf"(?: ?\[(?:{_NUMBERS}(?:, ?|\])?)?| )?\Z")
_MARK, _MARKED = "\ue000{}\ue001", re.compile("\ue000([0-9,]*)\ue001")
"""A marker among words, in characters that no text holds after it was cleaned."""
_MAX_PENDING_CHARS = 96
"""At least the length of the longest text that _PARTIAL_MARKER matches."""

Rewrite = Callable[[Sequence[int]], str | None]
"""Returns the new text of a marker for its numbers; None keeps the marker as it is."""


@dataclass(slots=True)
class Citations:
    """What a turn may cite by its `numbering`, and the sources that it `shown` has, in the order of their first use."""

    numbering: Numbering = field(default_factory=Numbering)
    shown: list[Source] = field(default_factory=list)
    _positions: dict[int, int] = field(default_factory=dict)

    def assign_number(self, source: Source) -> int:
        """Return the number of a conversation or a page; its first card is the one that counts."""
        return self.numbering.assign(source)

    def render_marker(self, numbers: Sequence[int]) -> str | None:
        """Renumber a marker by first use.

        Return None for text that is no citation: one of its numbers was never assigned.
        """
        if not all(number in self.numbering.sources for number in numbers):
            return None
        return "".join(f"[{self._assign_position(number)}]" for number in dict.fromkeys(numbers))

    def withdraw_shown(self, kept_count: int) -> None:
        """Forget what was cited after the first `kept_count` sources."""
        del self.shown[kept_count:]
        positions = self._positions.items()
        self._positions = {number: at for number, at in positions if at <= kept_count}

    def _assign_position(self, number: int) -> int:
        if number not in self._positions:
            self.shown.append(self.numbering.sources[number])
            self._positions[number] = len(self.shown)
        return self._positions[number]


class CitationRewriter:
    """Rewrites the markers of a streamed text; the result does not depend on how it is split.

    Code, between equal runs of one to three backticks, stays as it is; one or two backticks end
    with their line, and one behind a letter or digit is an apostrophe. Fewer than 64 characters are pending: those that the next piece may turn into
    a marker or a fence.
    """

    def __init__(self, rewrite: Rewrite) -> None:
        self._rewrite = rewrite
        self._pending = ""
        self._code_fence = ""
        self._last_sign = ""

    def feed(self, piece: str) -> str:
        """Add the next piece; return the text that no later piece can change."""
        text = self._pending + piece
        decided_end = len(text) - _count_undecided(text)
        self._pending = text[decided_end:]
        return self._rewrite_decided(text[:decided_end])

    def flush(self) -> str:
        """Return the pending text at the end of the stream."""
        text, self._pending = self._pending, ""
        return self._rewrite_decided(text)

    def _rewrite_decided(self, text: str) -> str:
        rewritten = _TOKEN.sub(self._replace, text)
        self._last_sign = text[-1:] or self._last_sign
        return rewritten

    def _replace(self, match: re.Match[str]) -> str:
        if match["ticks"]:
            start = match.start()
            before = match.string[start - 1] if start else self._last_sign
            self._track_code(
                match["ticks"], is_apostrophe=match["ticks"] == "`" and before.isalnum()
            )
        elif match["newline"]:
            self._code_fence = self._code_fence if self._code_fence == "```" else ""
        elif not self._code_fence:
            numbers = [int(number) for number in match["numbers"].split(",")]
            marker = self._rewrite(numbers)
            return match[0] if marker is None else marker
        return match[0]

    def _track_code(self, ticks: str, *, is_apostrophe: bool) -> None:
        if not self._code_fence:
            self._code_fence = "" if is_apostrophe else ticks
        elif self._code_fence == ticks:
            self._code_fence = ""


def _count_undecided(text: str) -> int:
    """Count the characters at the end whose meaning the next piece decides."""
    ticks = len(text) - len(text.rstrip("`"))
    if ticks:
        return ticks % 3
    match = _PARTIAL_MARKER.search(text[-_MAX_PENDING_CHARS:])
    return len(match[0]) if match else 0


def strip_markers(marked_text: str, source_count: int) -> str:
    """Remove the markers from an answer that cites so many sources."""
    rewriter = CitationRewriter(
        lambda numbers: "" if max(numbers) <= source_count and min(numbers) else None
    )
    return rewriter.feed(marked_text) + rewriter.flush()


def free_brackets(text: str) -> str:
    """Write numbers in brackets otherwise where others wrote them: a model that quotes them would seem to cite."""
    return _BRACKETED.sub(r"(\1)", text)


def restore_markers(words: str, answer: Message, numbering: Numbering) -> str:
    """Return the words of an answer with its markers, by the numbers that its sources have in the chat.

    Words that are not the beginning of what was shown, where our code wrote between them, stay as they are.
    """
    cited = list_cited(answer)
    if not cited or not answer.marked_text:
        return words
    numbers = {at: numbering.number(source) for at, source in enumerate(cited, 1)}
    rewriter = CitationRewriter(
        lambda shown: (
            _MARK.format(",".join(str(numbers[at]) for at in shown))
            if all(at in numbers for at in shown)
            else None
        )
    )
    text = (rewriter.feed(answer.marked_text) + rewriter.flush()).strip()
    parts = _MARKED.split(text)
    if not "".join(parts[::2]).startswith(words):
        return words
    restored, rest = "", words
    for plain, marker in zip(parts[::2], [*parts[1::2], ""], strict=True):
        if len(plain) > len(rest):
            return restored + rest
        restored, rest = restored + plain, rest[len(plain) :]
        restored += "".join(f"[{number}]" for number in marker.split(",") if number)
    return restored
