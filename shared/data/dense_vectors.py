"""Dense vectors of rows and questions, where there is an embedder; search works without them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from anyio import to_thread

from shared import telemetry
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import UserId
from shared.domain.vectors import Filter, Hit, Row
from shared.ports import Embedder, Vectors
from shared.retrieval.dense_recipe import Embedding, Recipe, blend_vectors, build_recipe_name

RowWithRecipe = tuple[Row, Recipe]


class DenseVectors:
    """Embeds rows and questions; where the embedder is down, search goes on by words alone."""

    def __init__(self, vectors: Vectors, embedder: Embedder | None) -> None:
        self._vectors = vectors
        self._embedder = embedder

    async def add_dense(
        self, uid: UserId, rows: Sequence[RowWithRecipe], *, are_stored: bool = True
    ) -> list[Row]:
        """Return the rows with dense values; a row whose recipe is unchanged keeps its own.

        Rows that were never stored have none to keep, and none are looked for.
        """
        if self._embedder is None or not rows:
            return [row for row, _ in rows]
        named_rows = [_add_recipe_name(row, recipe, self._embedder.name) for row, recipe in rows]
        ids = [row.id for row in named_rows]
        stored = await self._vectors.fetch(uid, ids) if are_stored else {}
        reused_rows = {row.id: _reuse_dense(row, stored) for row in named_rows}
        new_recipes = [recipe for row, recipe in rows if reused_rows[row.id] is None]
        try:
            vectors = await self._embed_texts(uid, self._embedder, new_recipes)
        except (Unavailable, ModelFailed):
            telemetry.add_fields(embedder="down")
            return [reused_rows[row.id] or row for row, _ in rows]
        pairs = [(row, recipe) for row, (_, recipe) in zip(named_rows, rows, strict=True)]
        return await to_thread.run_sync(
            lambda: [
                reused_rows[row.id] or _compute_dense(row, recipe, vectors) for row, recipe in pairs
            ]
        )

    async def query_nearest(
        self, uid: UserId, question: str, *, limit: int, where: Filter
    ) -> Sequence[Hit]:
        """Return the rows closest in meaning, best first; none without an embedder that answers."""
        if self._embedder is None or not question.strip():
            telemetry.add_fields(retrieval_path="words")
            return []
        try:
            [query_vector] = await self._embedder.embed(uid, [question])
            hits = await self._vectors.query_dense(uid, query_vector, limit=limit, where=where)
        except (Unavailable, ModelFailed):
            telemetry.add_fields(retrieval_path="words, embedder down")
            return []
        telemetry.add_fields(retrieval_path="words and meanings")
        return hits

    async def _embed_texts(
        self, uid: UserId, embedder: Embedder, recipes: Sequence[Recipe]
    ) -> Mapping[str, Embedding]:
        texts = list(dict.fromkeys(text for recipe in recipes for text, _ in recipe))
        return dict(zip(texts, await embedder.embed(uid, texts), strict=True)) if texts else {}


def _add_recipe_name(row: Row, recipe: Recipe, embedder: str) -> Row:
    return replace(row, metadata={**row.metadata, "meaning": build_recipe_name(recipe, embedder)})


def _reuse_dense(row: Row, stored: Mapping[str, Row]) -> Row | None:
    stored_row = stored.get(row.id)
    is_unchanged = (
        stored_row
        and stored_row.dense
        and stored_row.metadata.get("meaning") == row.metadata["meaning"]
    )
    return replace(row, dense=stored_row.dense) if stored_row and is_unchanged else None


def _compute_dense(row: Row, recipe: Recipe, vectors: Mapping[str, Embedding]) -> Row:
    return replace(row, dense=blend_vectors(recipe, vectors))
