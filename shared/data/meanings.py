"""Dense values beside the words of a row, where there is an embedder; search does without them too."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from anyio import to_thread

from shared import telemetry
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import UserId
from shared.domain.vectors import Filter, Hit, Row
from shared.ports import Embedder, Vectors
from shared.retrieval.meaning import Dense, Recipe, blended, named

Meant = tuple[Row, Recipe]


class Meanings:
    """An embedder that is down costs what it would have added, and nothing else."""

    def __init__(self, vectors: Vectors, embedder: Embedder | None) -> None:
        self._vectors = vectors
        self._embedder = embedder

    async def added(self, uid: UserId, rows: Sequence[Meant]) -> list[Row]:
        """Return the rows with their dense values; what means the same as before is not embedded."""
        if self._embedder is None or not rows:
            return [row for row, _ in rows]
        named_rows = [_with_name(row, recipe, self._embedder.name) for row, recipe in rows]
        stored = await self._vectors.fetch(uid, [row.id for row in named_rows])
        known = {row.id: _kept(row, stored) for row in named_rows}
        new = [recipe for row, recipe in rows if known[row.id] is None]
        try:
            vectors = await self._embedded(self._embedder, new)
        except (Unavailable, ModelFailed):
            telemetry.note(embedder="down")
            return [known[row.id] or row for row, _ in rows]
        pairs = [(row, recipe) for row, (_, recipe) in zip(named_rows, rows, strict=True)]
        return await to_thread.run_sync(
            lambda: [known[row.id] or _dense(row, recipe, vectors) for row, recipe in pairs]
        )

    async def near(self, uid: UserId, question: str, *, limit: int, where: Filter) -> Sequence[Hit]:
        """Return the rows closest in meaning, best first; none where nobody can tell."""
        if self._embedder is None or not question.strip():
            telemetry.note(retrieval_path="words")
            return []
        try:
            [asked] = await self._embedder.embed([question])
            hits = await self._vectors.query_dense(uid, asked, limit=limit, where=where)
        except (Unavailable, ModelFailed):
            telemetry.note(retrieval_path="words, embedder down")
            return []
        telemetry.note(retrieval_path="words and meanings")
        return hits

    async def _embedded(self, embedder: Embedder, recipes: Sequence[Recipe]) -> Mapping[str, Dense]:
        texts = list(dict.fromkeys(text for recipe in recipes for text, _ in recipe))
        return dict(zip(texts, await embedder.embed(texts), strict=True)) if texts else {}


def _with_name(row: Row, recipe: Recipe, embedder: str) -> Row:
    return replace(row, metadata={**row.metadata, "meaning": named(recipe, embedder)})


def _kept(row: Row, stored: Mapping[str, Row]) -> Row | None:
    before = stored.get(row.id)
    same = before and before.dense and before.metadata.get("meaning") == row.metadata["meaning"]
    return replace(row, dense=before.dense) if before and same else None


def _dense(row: Row, recipe: Recipe, vectors: Mapping[str, Dense]) -> Row:
    return replace(row, dense=blended(recipe, vectors))
