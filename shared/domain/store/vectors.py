"""Vector rows: sparse and dense values with flat metadata."""

from collections.abc import Mapping
from dataclasses import field

from shared.domain.value import positional_value, value


@positional_value
class SparseVector:
    """Terms as uint32 hashes with their weights, sorted by index; at most 1,000."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


MetadataValue = str | int | float | bool | list[str]
Filter = Mapping[str, object]
"""Pinecone's filter language: {"created_at": {"$gte": 1, "$lt": 2}, "kind": {"$eq": "chunk"}, "people": {"$in": [..]}}."""


@value
class Row:
    """A vector row; metadata is flat and without text.

    `dense` is the embedding of the same text, of any length but zero; None without an embedder. `text`
    waits to be embedded, where that is done behind.
    """

    id: str
    sparse: SparseVector
    dense: tuple[float, ...] | None = None
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    text: str | None = None


@value
class WaitingText:
    """The text of a stored row that waits to be embedded."""

    namespace: str
    row_id: str
    text: str


@value
class Hit:
    """A hit. `score`: dot product or cosine, higher is closer.

    `term_weights`: the weight of each query term in the row, in the query's order, 0 where it lacks
    one; empty for a dense query.
    """

    id: str
    score: float
    metadata: Mapping[str, MetadataValue]
    term_weights: tuple[float, ...] = ()

    def with_score(self, score: float) -> "Hit":
        """Return the same row with another score."""
        return Hit(id=self.id, score=score, metadata=self.metadata, term_weights=self.term_weights)
