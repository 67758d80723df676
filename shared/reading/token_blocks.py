"""Blocks of texts that a model reads one by one, each of at most so many tokens; pure."""

from collections.abc import Iterable, Iterator

from shared.models.windows import count_data_tokens

MAX_BLOCK_TOKENS = 70_000
MAX_OVERLAP_CHARS = 400


def split_blocks(texts: Iterable[str], max_tokens: int = MAX_BLOCK_TOKENS) -> list[list[str]]:
    """Pack texts in their order; one that is longer than a block is cut into pieces. At least one block."""
    blocks: list[list[str]] = [[]]
    used = 0
    for text in texts:
        for piece in _cut(text, max_tokens):
            tokens = count_data_tokens(piece)
            if blocks[-1] and used + tokens > max_tokens:
                blocks.append([])
                used = 0
            blocks[-1].append(piece)
            used += tokens
    return blocks


def split_text(text: str, max_tokens: int) -> list[str]:
    """Cut a text into pieces, in order; mostly it is one.

    Each repeats the end of the one before, so that a sentence stands whole in one of them.
    """
    if count_data_tokens(text) <= max_tokens:
        return [text]
    pieces = ["".join(block) for block in split_blocks([text], max_tokens * 3 // 4)]
    ends = [_take_end(piece, max_tokens // 4) for piece in pieces]
    return [pieces[0], *map("".join, zip(ends, pieces[1:], strict=False))]


def _take_end(text: str, max_tokens: int) -> str:
    end = text[-MAX_OVERLAP_CHARS:]
    while end and count_data_tokens(end) > max_tokens:
        end = end[len(end) // 2 + 1 :]
    return end


def _cut(text: str, max_tokens: int) -> Iterator[str]:
    """Yield a text in halves of halves, until each fits; a single character always does."""
    if len(text) <= 1 or count_data_tokens(text) <= max_tokens:
        yield text
        return
    middle = len(text) // 2
    yield from _cut(text[:middle], max_tokens)
    yield from _cut(text[middle:], max_tokens)
