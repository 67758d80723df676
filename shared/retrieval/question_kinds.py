"""Kinds of questions: what a question is about, by the labelled examples that are nearest to it in meaning.

The examples are ours (question_kinds.json), in many languages; `make question-kinds` embeds them.

Also called: intent classification, query routing, nearest neighbours.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from shared.domain.value import value

if TYPE_CHECKING:
    import numpy as np

    Matrix = np.ndarray[Any, np.dtype[np.float32]]

QuestionKind = Literal["library", "advice", "general", "action"]
"""What was said, people and plans; what suits the owner, or who they are; what anybody may ask; what apps and the web do."""
EXAMPLES = Path(__file__).with_suffix(".json")
VECTORS = Path(__file__).with_suffix(".npz")
ENCODER = "multilingual-e5-small/q4"
"""The embedder whose vectors of the examples these are; others compare with nothing."""
NEAREST = 15
_SHARPNESS = 8
"""An example counts exp(8·cos) as much as one at a right angle to the question."""


@value
class _Table:
    kinds: Sequence[QuestionKind]
    mean: "Matrix"
    directions: "Matrix"


def weigh_kinds(vector: Sequence[float]) -> Mapping[QuestionKind, float]:
    """Return the shares of the kinds among the nearest examples, which add up to 1."""
    import numpy as np

    table = _load_table()
    centred = np.asarray(vector, dtype=np.float32) - table.mean
    similarities = table.directions @ (centred / (np.linalg.norm(centred) or 1.0))
    weights = dict.fromkeys(table.kinds, 0.0)
    for place in np.argsort(-similarities, kind="stable")[:NEAREST]:
        weights[table.kinds[place]] += float(np.exp(_SHARPNESS * similarities[place]))
    total = sum(weights.values())
    return {kind: weight / total for kind, weight in weights.items()}


def list_examples() -> Sequence[tuple[QuestionKind, str]]:
    by_kind: Mapping[QuestionKind, Sequence[str]] = json.loads(EXAMPLES.read_text("utf-8"))
    return [(kind, text) for kind, texts in by_kind.items() for text in texts]


@cache
def _load_table() -> _Table:
    """Vectors are stored as whole numbers: their length is no matter."""
    import numpy as np

    with np.load(VECTORS) as stored:
        vectors = stored["vectors"].astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    mean = vectors.mean(axis=0)
    centred = vectors - mean
    return _Table(
        kinds=[kind for kind, _ in list_examples()],
        mean=mean,
        directions=centred / np.linalg.norm(centred, axis=1, keepdims=True),
    )
