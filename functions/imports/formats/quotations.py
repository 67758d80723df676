"""Quotations in the chat of a meeting: an answer's reference, or a reaction."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from functions.imports.formats.drafts import Turn

_OPENING_QUOTE = re.compile(r"[\"“«„]")
_CLOSING_QUOTE = re.compile(r"[\"”»“]")
MAX_QUOTED_CHARS = 2_000
MIN_BEGINNING_CHARS = 8
MAX_AROUND_CHARS = 40
"""Of the words around a quoted turn, such as `Reacted to`."""


def drop_quotations(turns: Sequence[Turn]) -> list[Turn]:
    """Drop lines that only quote an earlier turn: an answer's reference, or a reaction to it."""
    said: set[str] = set()
    kept: list[Turn] = []
    for turn in turns:
        lines = [line for line in turn.text.split("\n") if not _quotes(line, said)]
        text = "\n".join(lines).strip()
        said.update(line.strip() for line in turn.text.split("\n"))
        if text:
            kept.append(replace(turn, text=text))
    return kept


def drop_quoted_lines(text: str, said: Collection[str]) -> str:
    """Drop the lines behind a `>` that repeat what was said before: an answer's reference in a chat."""
    lines = text.split("\n")
    marked = {line: line.lstrip("> ").strip() for line in lines if line.startswith(">")}
    if not any(quoted in said for quoted in marked.values() if quoted):
        return text
    kept = [
        line for line in lines if line not in marked or (marked[line] and marked[line] not in said)
    ]
    return "\n".join(kept).strip()


def _quotes(line: str, said: Collection[str]) -> bool:
    opening = _OPENING_QUOTE.search(line[:MAX_AROUND_CHARS])
    if opening is None or len(line) > MAX_QUOTED_CHARS:
        return False
    rest = line[opening.end() :]
    return any(
        rest[: closing.start()] in said or _is_beginning(rest[: closing.start()], said)
        for closing in _CLOSING_QUOTE.finditer(rest)
        if len(rest) - closing.end() <= MAX_AROUND_CHARS
    )


def _is_beginning(quoted: str, said: Collection[str]) -> bool:
    """Tell whether a shortened quotation is the beginning of an earlier turn."""
    beginning = quoted.removesuffix("...").removesuffix("…")
    is_shortened = beginning != quoted and len(beginning) >= MIN_BEGINNING_CHARS
    return is_shortened and any(line.startswith(beginning) for line in said)
