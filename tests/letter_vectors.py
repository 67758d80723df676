"""Vectors of texts without a model: words that are spelt alike are near each other."""

import math
from zlib import crc32


def embed_letters(text: str, dimensions: int) -> list[float]:
    """Count a text's letters, three at a time, into so many numbers; the vector has the length 1."""
    counts = [0.0] * dimensions
    for n in range(len(text) - 2):
        counts[crc32(text[n : n + 3].lower().encode()) % dimensions] += 1.0
    if not any(counts):
        return [1.0, *counts[1:]]
    length = math.hypot(*counts)
    return [count / length for count in counts]
