"""Passages of pages: the pieces of a file's text that are found and quoted one by one."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from shared.domain.files.file import Page
from shared.domain.value import value

MAX_PASSAGE_CHARS = 1_000


@value
class PagePassage:
    """A piece of a page, with its text."""

    page: int
    text: str


def split_into_passages(pages: Iterable[Page]) -> list[PagePassage]:
    """Split pages at the ends of lines; every word stands in exactly one passage."""
    return [
        PagePassage(page=page.number, text=text) for page in pages for text in _split(page.text)
    ]


def _split(text: str) -> Iterator[str]:
    """Join lines as long as they fit; a longer line is split between words."""
    lines: list[str] = []
    size = 0
    for line in _list_lines(text):
        if lines and size + len(line) > MAX_PASSAGE_CHARS:
            yield "\n".join(lines)
            lines, size = [], 0
        lines.append(line)
        size += len(line) + 1
    if lines:
        yield "\n".join(lines)


def _list_lines(text: str) -> Iterator[str]:
    for line in filter(str.strip, text.splitlines()):
        yield from _wrap(line.rstrip())


def _wrap(line: str) -> Sequence[str]:
    return [line] if len(line) <= MAX_PASSAGE_CHARS else textwrap.wrap(line, MAX_PASSAGE_CHARS)
