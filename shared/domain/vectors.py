"""Rows of the vector index; they hold no text."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Terms as uint32 hashes with their weights, sorted by index; at most 1,000."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


MetadataValue = str | int | float | bool | list[str]
Filter = Mapping[str, object]
"""Pinecone's filter language: {"created_at": {"$gte": 1, "$lt": 2}, "kind": {"$eq": "chunk"}, "people": {"$in": [..]}}."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A vector row; `id` as DESIGN writes it, metadata flat and without text."""

    id: str
    sparse: SparseVector
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A row that was found. `score`: dot product, higher is closer."""

    id: str
    score: float
    metadata: Mapping[str, MetadataValue]
