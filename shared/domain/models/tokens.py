"""Token count of a text, estimated by script: a model's own tables are too heavy for a cold start.

The counts are those of o200k, rather too high than too low. In UTF-8 the first byte of a character
tells its script, so bytes are counted, in time that grows with the text alone.

Also called: tokenizer, token counting.
"""

from collections.abc import Iterable
from math import ceil

_LETTERS = bytes(byte for byte in range(128) if chr(byte).isalpha() or chr(byte) == " ")
_DENSE_ASCII = bytes(set(range(128)).difference(_LETTERS))
_TOKENS_BY_BYTES: tuple[tuple[bytes, float], ...] = (
    (_LETTERS, 1 / 4),
    (_DENSE_ASCII, 1 / 2),
    (bytes(range(0xC0, 0xE0)), 1 / 2),  # other alphabets, from Greek to Arabic
    (b"\xe0", 0.6),  # Indic scripts and Thai
    (b"\xe1\xe2\xef", 1.2),  # scripts and signs of which few are words
    (bytes(range(0xE3, 0xEA)), 1.25),  # Chinese and Japanese
    (bytes(range(0xEA, 0xEF)), 1.0),  # Korean
    (bytes(range(0xF0, 0xF5)), 3.0),  # emoji and rare characters
)


def _list_others(first_bytes: Iterable[int]) -> bytes:
    return bytes(set(range(256)).difference(first_bytes))


_SCRIPTS = tuple((_list_others(first_bytes), tokens) for first_bytes, tokens in _TOKENS_BY_BYTES)


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens a text is; at least 1."""
    encoded = text.encode("utf-8", "surrogatepass")
    if text.isascii():
        dense = len(encoded.translate(None, _LETTERS))
        return (len(encoded) + dense + 3) // 4 + 1
    return (
        ceil(sum(len(encoded.translate(None, others)) * tokens for others, tokens in _SCRIPTS)) + 1
    )
