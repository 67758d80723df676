"""Labelled examples: what a text is, by those that are nearest to it in meaning.

Also called: nearest neighbours, few-shot classification, intent classification.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import numpy as np

    Matrix = np.ndarray[Any, np.dtype[np.float32]]

ENCODER = "multilingual-e5-small/q4"
"""The embedder that the vectors of all tables are by; others compare with nothing."""
NEAREST = 15
SHARPNESS = 8
"""An example counts exp(8·cos) as much as one at a right angle to the text."""
SHARPNESS_OF_ALL = 12
"""The same where all examples count, and not the nearest alone."""
RIDGE = 0.3
"""The less, the more closely `discern` follows single examples."""

L = TypeVar("L")


def read_examples(file: Path) -> list[tuple[Any, str]]:
    """Return the examples of a file of JSON, lists by label, each with its label."""
    by_label: Mapping[str, Sequence[str]] = json.loads(file.read_text("utf-8"))
    return [(label, text) for label, texts in by_label.items() for text in texts]


def read_table(file: Path) -> "ExampleTable[Any]":
    """Return the table of such a file, whose vectors stand beside it."""
    return ExampleTable([label for label, _ in read_examples(file)], file.with_suffix(".npz"))


class ExampleTable(Generic[L]):
    """Examples with their labels; `file` holds their vectors as whole numbers, in the same order.

    `make embed-examples` embeds them anew.
    """

    def __init__(self, labels: Sequence[L], file: Path) -> None:
        self.file = file
        self._labels = labels
        self._places: dict[tuple[L, ...], list[int]] = {}
        self._weights: dict[tuple[L, ...], Matrix] = {}

    def weigh(self, vector: Sequence[float]) -> Mapping[L, float]:
        """Return the shares of the labels among the nearest examples, which add up to 1."""
        import numpy as np

        similarities = self._compare(vector)
        weights = dict.fromkeys(self._labels, 0.0)
        for place in np.argsort(-similarities, kind="stable")[:NEAREST]:
            weights[self._labels[place]] += float(np.exp(SHARPNESS * similarities[place]))
        total = sum(weights.values())
        return {label: weight / total for label, weight in weights.items()}

    def lean(self, vector: Sequence[float], *, to: Collection[L], against: Collection[L]) -> float:
        """Return how much nearer a text is to some labels than to others, from 0 to 1.

        All examples of both sides count, by their average: it does not matter which side has more.
        """
        import numpy as np

        weights = np.exp(SHARPNESS_OF_ALL * self._compare(vector))
        near, far = (float(weights[self._find_places(side)].mean()) for side in (to, against))
        return near / (near + far)

    def discern(self, vector: Sequence[float], *, to: Collection[L]) -> float:
        """Return about 1 for a text like the examples of some labels, about -1 for one like the others.

        It looks for what tells both sides apart, such as asking from forbidding, and less for what they are about.
        """
        import numpy as np

        mean, directions = self._vectors
        weights = self._find_weights(tuple(to), directions)
        centred = np.asarray(vector, dtype=np.float32) - mean
        return float(np.append(centred / (np.linalg.norm(centred) or 1.0), 1.0) @ weights)

    def _find_weights(self, to: tuple[L, ...], directions: "Matrix") -> "Matrix":
        """Return what each dimension says for a side, by ridge regression; both sides count the same. Found once."""
        import numpy as np

        if to not in self._weights:
            sides = np.array([1.0 if label in to else -1.0 for label in self._labels])
            known = np.hstack([directions, np.ones((len(sides), 1))])
            weighted = known.T * np.where(sides > 0, (sides < 0).sum() / (sides > 0).sum(), 1.0)
            squares = weighted @ known + RIDGE * np.eye(known.shape[1])
            self._weights[to] = np.linalg.solve(squares, weighted @ sides)
        return self._weights[to]

    def _find_places(self, side: Collection[L]) -> list[int]:
        """Return the places of the examples that have one of these labels, found once."""
        key = tuple(side)
        if key not in self._places:
            self._places[key] = [n for n, label in enumerate(self._labels) if label in side]
        return self._places[key]

    def _compare(self, vector: Sequence[float]) -> "Matrix":
        """Return the cosine of each example with a text, by their directions from the mean of all."""
        import numpy as np

        mean, directions = self._vectors
        centred = np.asarray(vector, dtype=np.float32) - mean
        similarities: Matrix = directions @ (centred / (np.linalg.norm(centred) or 1.0))
        return similarities

    @cached_property
    def _vectors(self) -> "tuple[Matrix, Matrix]":
        """The mean of the examples, and their directions from it; their stored length is no matter."""
        import numpy as np

        with np.load(self.file) as stored:
            vectors = stored["vectors"].astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        mean = vectors.mean(axis=0)
        centred = vectors - mean
        return mean, centred / np.linalg.norm(centred, axis=1, keepdims=True)
