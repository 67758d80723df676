"""Dense vectors of rows and questions, where there is an embedder; search works without them.

Also called: embeddings.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from anyio import to_thread

from shared import telemetry
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import UserId
from shared.domain.store.vectors import Filter, Hit, Row
from shared.ports import Embedder, Vectors

RowWithText = tuple[Row, str | None]
"""A row with the text that is embedded for it; None where it has no dense values."""


class DenseVectors:
    """Embeds rows and questions; where the embedder is down, search goes on by words alone.

    With `awaits_embedder` rows are then not written: the call raises Unavailable. An embedder that
    embeds later is given none: their texts go with the rows.
    """

    def __init__(
        self, vectors: Vectors, embedder: Embedder | None, *, awaits_embedder: bool = False
    ) -> None:
        self._vectors = vectors
        self._embedder = embedder
        self._awaits_embedder = awaits_embedder

    async def add_dense(
        self, uid: UserId, rows: Sequence[RowWithText], *, are_stored: bool = True
    ) -> list[Row]:
        """Return the rows with dense values; a row whose text is unchanged keeps its own.

        Rows that were never stored have none to keep, and none are looked for.
        """
        if self._embedder is None:
            return [row for row, _ in rows]
        named_rows = [_add_text_name(row, text, self._embedder.name) for row, text in rows]
        ids = [row.id for row, text in rows if text is not None]
        stored = await self._vectors.fetch(uid, ids) if are_stored and ids else {}
        reused_rows = {row.id: _reuse_dense(row, stored) for row in named_rows}
        if self._embedder.embeds_later:
            return [
                reused_rows[row.id] or replace(row, text=text)
                for row, (_, text) in zip(named_rows, rows, strict=True)
            ]
        new_texts = [text for row, text in rows if text is not None and not reused_rows[row.id]]
        try:
            vectors = await self._embed_texts(uid, self._embedder, new_texts)
        except (Unavailable, ModelFailed) as error:
            telemetry.add_fields(embedder="down")
            if self._awaits_embedder and isinstance(error, Unavailable):
                raise
            return [reused_rows[row.id] or row for row, _ in rows]
        return [
            reused_rows[row.id] or _set_dense(row, text, vectors)
            for row, (_, text) in zip(named_rows, rows, strict=True)
        ]

    async def query_nearest(
        self, uid: UserId, question: str, *, limit: int, where: Filter
    ) -> Sequence[Hit]:
        """Return the rows closest in meaning, best first; none without an embedder that answers."""
        if self._embedder is None or not question.strip():
            telemetry.add_fields(retrieval_path="words")
            return []
        try:
            query_vector = await self._embedder.embed_question(uid, question)
            hits = await self._vectors.query_dense(uid, query_vector, limit=limit, where=where)
        except (Unavailable, ModelFailed):
            telemetry.add_fields(retrieval_path="words, embedder down")
            return []
        telemetry.add_fields(retrieval_path="words and meanings")
        return hits

    async def measure_nearness(
        self, uid: UserId, texts: Sequence[str], passages: Sequence[str]
    ) -> Sequence[float]:
        """Return how much nearer each text is to some passage than all are on average, in cosines.

        So a passage that says nothing is near to none. Nothing without an embedder that answers.
        """
        if self._embedder is None or not texts or not passages:
            return ()
        try:
            vectors = await self._embed_texts(uid, self._embedder, [*texts, *passages])
        except (Unavailable, ModelFailed):
            telemetry.add_fields(embedder="down")
            return ()
        return await to_thread.run_sync(
            _measure_nearest, [vectors[text] for text in texts], [vectors[p] for p in passages]
        )

    async def _embed_texts(
        self, uid: UserId, embedder: Embedder, texts: Sequence[str]
    ) -> Mapping[str, Sequence[float]]:
        distinct = list(dict.fromkeys(texts))
        vectors = await embedder.embed(uid, distinct) if distinct else []
        return dict(zip(distinct, vectors, strict=True))


def _measure_nearest(
    vectors: Sequence[Sequence[float]], others: Sequence[Sequence[float]]
) -> Sequence[float]:
    import numpy as np

    rows, columns = (np.asarray(each, dtype=np.float32) for each in (vectors, others))
    lengths = np.outer(np.linalg.norm(rows, axis=1), np.linalg.norm(columns, axis=1))
    cosines = rows @ columns.T / lengths
    nearest: Sequence[float] = (cosines - cosines.mean(axis=0)).max(axis=1).tolist()
    return nearest


def _add_text_name(row: Row, text: str | None, embedder: str) -> Row:
    """Name the text and the embedder in the metadata: the same name, the same dense values."""
    if text is None:
        return row
    name = hashlib.sha256(repr((embedder, text)).encode()).hexdigest()[:16]
    return replace(row, metadata={**row.metadata, "meaning": name})


def _reuse_dense(row: Row, stored: Mapping[str, Row]) -> Row | None:
    stored_row = stored.get(row.id)
    is_unchanged = (
        stored_row
        and stored_row.dense
        and stored_row.metadata.get("meaning") == row.metadata["meaning"]
    )
    return replace(row, dense=stored_row.dense) if stored_row and is_unchanged else None


def _set_dense(row: Row, text: str | None, vectors: Mapping[str, Sequence[float]]) -> Row:
    return row if text is None else replace(row, dense=tuple(vectors[text]))
