"""Dense recipes: the texts whose vectors are blended into the vector of a row, with weights."""

import hashlib
import math
from collections.abc import Mapping, Sequence

from shared.retrieval.sparse import NEIGHBOUR_WEIGHTS

Recipe = tuple[tuple[str, float], ...]
"""Texts and their weights; the first is the row's own."""
Embedding = Sequence[float]


def build_text_recipe(text: str) -> Recipe:
    return ((text, 1.0),)


def build_line_recipes(lines: Sequence[str]) -> list[Recipe]:
    """Blend each line with its neighbours, which count less the farther they stand."""
    return [_build_line_recipe(lines, n) for n in range(len(lines))]


def build_recipe_name(recipe: Recipe, embedder: str) -> str:
    """Name the vector of a recipe and an embedder: the same name, the same vector."""
    return hashlib.sha256(repr((embedder, recipe)).encode()).hexdigest()[:16]


def blend_vectors(recipe: Recipe, vectors: Mapping[str, Embedding]) -> tuple[float, ...]:
    """Blend the vectors of a recipe's texts, each of unit length."""
    parts = [[share * x for x in vectors[text]] for text, share in recipe]
    total = [sum(column) for column in zip(*parts, strict=True)]
    length = math.hypot(*total) or 1.0
    return tuple(x / length for x in total)


def _build_line_recipe(lines: Sequence[str], n: int) -> Recipe:
    neighbours = [
        (n + offset, share) for offset, share in NEIGHBOUR_WEIGHTS if 0 <= n + offset < len(lines)
    ]
    return ((lines[n], 1.0), *((lines[m], share) for m, share in neighbours))
