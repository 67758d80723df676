"""What a row means: the vectors of its texts, blended as its words are."""

import hashlib
import math
from collections.abc import Mapping, Sequence

from shared.retrieval.sparse import NEAR

Recipe = tuple[tuple[str, float], ...]
"""Texts, and how much each counts; the first is the row's own."""
Dense = Sequence[float]


def of_text(text: str) -> Recipe:
    return ((text, 1.0),)


def of_lines(lines: Sequence[str]) -> list[Recipe]:
    """Let each line mean what it says among its neighbours, the less the farther they stand."""
    return [_among(lines, n) for n in range(len(lines))]


def named(recipe: Recipe, embedder: str) -> str:
    """Name what a recipe gives with an embedder: the same name, the same vector."""
    return hashlib.sha256(repr((embedder, recipe)).encode()).hexdigest()[:16]


def blended(recipe: Recipe, vectors: Mapping[str, Dense]) -> tuple[float, ...]:
    """Blend the vectors of a recipe's texts, each of unit length."""
    parts = [[share * x for x in vectors[text]] for text, share in recipe]
    total = [sum(column) for column in zip(*parts, strict=True)]
    length = math.hypot(*total) or 1.0
    return tuple(x / length for x in total)


def _among(lines: Sequence[str], n: int) -> Recipe:
    near = [(n + offset, share) for offset, share in NEAR if 0 <= n + offset < len(lines)]
    return ((lines[n], 1.0), *((lines[m], share) for m, share in near))
