"""Blocks of texts that a model reads one by one, each of at most so many tokens; pure."""

from collections.abc import Iterable, Iterator

from shared.domain.tokens import estimate_tokens

MAX_BLOCK_TOKENS = 70_000


def split_blocks(texts: Iterable[str], max_tokens: int = MAX_BLOCK_TOKENS) -> list[list[str]]:
    """Pack texts in their order; one that is longer than a block is cut into pieces. At least one block."""
    blocks: list[list[str]] = [[]]
    used = 0
    for text in texts:
        for piece in _cut(text, max_tokens):
            tokens = estimate_tokens(piece)
            if blocks[-1] and used + tokens > max_tokens:
                blocks.append([])
                used = 0
            blocks[-1].append(piece)
            used += tokens
    return blocks


def _cut(text: str, max_tokens: int) -> Iterator[str]:
    """Yield a text in halves of halves, until each fits; a single character always does."""
    if len(text) <= 1 or estimate_tokens(text) <= max_tokens:
        yield text
        return
    middle = len(text) // 2
    yield from _cut(text[:middle], max_tokens)
    yield from _cut(text[middle:], max_tokens)
