"""Blocks: the turns of a transcript as lines below their headers."""

import re
from collections.abc import Sequence
from dataclasses import replace

from functions.imports.formats.layouts import DAY_LINE, Header
from shared.domain.value import value


@value
class Block:
    """The lines of a turn, below its header."""

    header: Header
    lines: Sequence[str]

    @property
    def text(self) -> str:
        return "\n".join(filter(None, [self.header.words.strip(), *self.lines])).strip()


def date_blocks(preamble: Sequence[str], blocks: Sequence[Block]) -> list[Block] | None:
    """Give each turn the day of the line above it; None where none stands above the first."""
    day = _find_day(preamble)
    dated: list[Block] = []
    for block in blocks:
        lines = [line for line in block.lines if not DAY_LINE.fullmatch(line)]
        said = Block(header=replace(block.header, date=day), lines=lines)
        dated.append(_unquote(said) if any(lines) else said)
        day = _find_day(block.lines) or day
    return dated if _find_day(preamble) else None


def _unquote(block: Block) -> Block:
    """Take off the quotation marks that a table puts around what goes over several lines."""
    text = block.text
    is_quoted = len(text) > 1 and text.startswith('"') and text.endswith('"')
    words = text[1:-1].replace('""', '"') if is_quoted else text
    return Block(header=replace(block.header, words=words), lines=[])


def _find_day(lines: Sequence[str]) -> str:
    days = [match for match in map(DAY_LINE.fullmatch, lines) if match]
    if not days:
        return ""
    numbers = re.sub(r"\D+", "/", days[-1]["date"])
    return f"{days[-1]['weekday']} {numbers}".strip()


def drop_addressees(blocks: Sequence[Block]) -> list[Block]:
    """Leave the senders of `From Ann to Everyone`, in whatever language.

    The first word and one between the names stand in all headers, and two senders share an addressee.
    """
    names = list(dict.fromkeys(block.header.name for block in blocks))
    senders = _find_senders([name.split() for name in names])
    if senders is None:
        return list(blocks)
    by_name = dict(zip(names, senders, strict=True))
    return [
        replace(block, header=replace(block.header, name=by_name[block.header.name]))
        for block in blocks
    ]


def _find_senders(names: Sequence[Sequence[str]]) -> list[str] | None:
    between = set.intersection(*(set(words[2:-1]) for words in names))
    if len({words[0] for words in names if words}) != 1 or not between:
        return None
    middle = max(between, key=lambda word: _find_last(names[0], word))
    cuts = [_find_last(words, middle) for words in names]
    senders = [" ".join(words[1:cut]) for words, cut in zip(names, cuts, strict=True)]
    by_addressee: dict[tuple[str, ...], set[str]] = {}
    for words, cut, sender in zip(names, cuts, senders, strict=True):
        by_addressee.setdefault(tuple(words[cut + 1 :]), set()).add(sender)
    return senders if max(map(len, by_addressee.values())) > 1 else None


def _find_last(words: Sequence[str], word: str) -> int:
    return len(words) - 1 - words[::-1].index(word)
