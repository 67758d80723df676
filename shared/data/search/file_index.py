"""File index: the rows by which a search finds passages of files."""

from asyncio import gather
from collections.abc import Iterator, Sequence

from anyio import to_thread

from shared.data.search.dense_vectors import DenseVectors, RowWithText
from shared.data.search.library_index import INDEX_VERSION
from shared.domain.files.file import File
from shared.domain.ids import FileId, UserId
from shared.domain.store.vectors import Filter, Hit, MetadataValue, Row
from shared.domain.value import value
from shared.ports import Embedder, Vectors
from shared.retrieval import sparse
from shared.retrieval.fusion import fuse_scores
from shared.retrieval.page_passages import PagePassage
from shared.retrieval.query import parse_query, rescore, select_strong
from shared.spans import open_retrieval

MAX_ROWS_PER_QUERY = 50
_MAX_DELETED_AT_ONCE = 1_000


@value
class FoundPassage:
    """A place in a file: the passage of that number, as split_into_passages() counts them."""

    file_id: FileId
    number: int
    score: float


@value
class FoundPassages:
    """Passages, best first; `has_more`: others were left out whose words fit about as well as the best one's."""

    passages: list[FoundPassage]
    has_more: bool


class FileIndex:
    """Writes rows whose ids depend only on their file and place, so that writes are idempotent."""

    def __init__(
        self,
        vectors: Vectors,
        embedder: Embedder | None = None,
        *,
        awaits_embedder: bool = False,
    ) -> None:
        self._vectors = vectors
        self._dense_vectors = DenseVectors(vectors, embedder, awaits_embedder=awaits_embedder)

    async def put(self, uid: UserId, file: File, passages: Sequence[PagePassage]) -> None:
        rows = await to_thread.run_sync(lambda: list(_build_rows(uid, file, passages)))
        if rows:
            await self._vectors.upsert(uid, await self._dense_vectors.add_dense(uid, rows))

    async def remove(self, uid: UserId, file: File) -> None:
        ids = [_row_id(uid, file.id, n) for n in range(file.chunk_count)]
        for start in range(0, len(ids), _MAX_DELETED_AT_ONCE):
            await self._vectors.delete(uid, ids[start : start + _MAX_DELETED_AT_ONCE])

    async def search(
        self, uid: UserId, query: str, *, file_ids: Sequence[FileId] = (), limit: int
    ) -> FoundPassages:
        """Return the passages that fit best, best first, of these files or of all."""
        of_files: Filter = {"file_id": {"$in": list(file_ids)}} if file_ids else {}
        where: Filter = {"kind": {"$eq": "file"}, **of_files}
        parsed_query = parse_query(query)
        with open_retrieval("files"):
            by_words, by_meaning = await gather(
                self._vectors.query_sparse(
                    uid, parsed_query.vector, limit=MAX_ROWS_PER_QUERY, where=where
                ),
                self._dense_vectors.query_nearest(
                    uid, query, limit=MAX_ROWS_PER_QUERY, where=where
                ),
            )
        ranked_words = rescore(parsed_query, by_words)
        hits = fuse_scores(ranked_words, by_meaning, limit=MAX_ROWS_PER_QUERY)[:limit]
        shown = {hit.id for hit in hits}
        return FoundPassages(
            passages=list(map(_to_found, hits)),
            has_more=any(hit.id not in shown for hit in select_strong(ranked_words)),
        )


def _build_rows(uid: UserId, file: File, passages: Sequence[PagePassage]) -> Iterator[RowWithText]:
    """Build a row of each passage; the name of the file is part of what is found."""
    for number, passage in enumerate(passages):
        metadata: dict[str, MetadataValue] = {
            "kind": "file",
            "uid": uid,
            "file_id": file.id,
            "passage": number,
            "page": passage.page,
            "created_at": int(file.created_at.timestamp()),
            "index_version": INDEX_VERSION,
        }
        row = Row(
            id=_row_id(uid, file.id, number),
            sparse=sparse.encode_text(f"{file.name}\n{passage.text}"),
            metadata=metadata,
        )
        yield row, passage.text


def _row_id(uid: UserId, file_id: FileId, number: int) -> str:
    return f"{uid}-{file_id}#f{number}"


def _to_found(hit: Hit) -> FoundPassage:
    return FoundPassage(
        file_id=FileId(str(hit.metadata["file_id"])),
        number=int(str(hit.metadata["passage"])),
        score=hit.score,
    )
