"""Translation of Pinecone's answers into ours."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest
from pinecone.errors import UnauthorizedError

from shared.adapters.cloud.pinecone_vectors import PineconeVectors
from shared.domain.errors import Invalid, Unavailable
from shared.domain.store.vectors import Row, SparseVector
from tests.servers.pinecone import API_KEY, FakePinecone, fake_pinecone

TERM = SparseVector((7,), (1.5,))


@pytest.fixture
def server() -> Iterator[FakePinecone]:
    with fake_pinecone() as server:
        yield server


@pytest.fixture
async def vectors(server: FakePinecone) -> AsyncIterator[PineconeVectors]:
    vectors = PineconeVectors(api_key=API_KEY, sparse_host=server.url)
    yield vectors
    await vectors.aclose()


async def test_requests_follow_the_pinecone_api(server: FakePinecone, vectors: PineconeVectors):
    await vectors.upsert("ann", [Row(id="ann-c", sparse=TERM, metadata={"kind": "chunk"})])
    await vectors.query_sparse("ann", TERM, limit=3, where={"kind": {"$eq": "chunk"}})

    sparse = {"indices": [7], "values": [1.5]}
    vector = {"id": "ann-c", "sparseValues": sparse, "metadata": {"kind": "chunk"}}
    query_body = {
        "topK": 3,
        "namespace": "ann",
        "sparseVector": sparse,
        "filter": {"kind": {"$eq": "chunk"}},
        "includeValues": True,
        "includeMetadata": True,
    }
    upsert, query = server.requests
    assert upsert[1] == "/vectors/upsert"
    assert upsert[2]["namespace"] == "ann"
    assert [
        {k: v for k, v in sent_vector.items() if k != "values"}
        for sent_vector in upsert[2]["vectors"]
    ] == [vector]
    assert query == ("POST", "/query", query_body)


async def test_large_deletes_are_split_by_the_request_limit(
    server: FakePinecone, vectors: PineconeVectors
):
    await vectors.upsert("ann", [Row(id="ann-c", sparse=TERM)])

    await vectors.delete("ann", [f"ann-c#{n}" for n in range(2_500)])

    sizes = [len(body["ids"]) for _, path, body in server.requests if path == "/vectors/delete"]
    assert sizes == [1_000, 1_000, 500]


async def test_large_writes_are_split_by_the_request_limit(
    server: FakePinecone, vectors: PineconeVectors
):
    wide = SparseVector(tuple(range(1_000)), (1 / 3,) * 1_000)
    await vectors.upsert("ann", [Row(id=f"wide-{n}", sparse=wide) for n in range(200)])
    await vectors.upsert("ann", [Row(id=f"small-{n}", sparse=TERM) for n in range(2_001)])

    sizes = [len(body["vectors"]) for _, path, body in server.requests if path == "/vectors/upsert"]
    assert sum(sizes) == 2_201
    assert sizes[-3:] == [1_000, 1_000, 1]
    assert len(sizes[:-3]) == 3


async def test_embeddings_go_into_the_dense_index_and_words_into_the_sparse(server: FakePinecone):
    row = Row(id="ann-c", sparse=TERM, dense=(1 / 3,) * 3_072, metadata={"kind": "chunk"})
    with fake_pinecone() as dense:
        vectors = PineconeVectors(api_key=API_KEY, sparse_host=server.url, dense_host=dense.url)
        await vectors.upsert("ann", [replace(row, id=f"ann-c#{n}") for n in range(100)])
        await vectors.query_dense("ann", (0.25,) * 3_072, limit=3, where={"kind": "chunk"})
        await vectors.aclose()

    query_body = {
        "topK": 3,
        "namespace": "ann",
        "vector": [0.25] * 3_072,
        "filter": {"kind": "chunk"},
        "includeValues": False,
        "includeMetadata": True,
    }
    assert dense.requests[-1] == ("POST", "/query", query_body)
    assert len(dense.namespaces["ann"]) == len(server.namespaces["ann"]) == 100
    assert {row.dense for row in server.namespaces["ann"].values()} == {None}
    assert {row.sparse.indices for row in dense.namespaces["ann"].values()} == {()}


async def test_without_a_dense_index_embeddings_are_refused(vectors: PineconeVectors):
    with pytest.raises(Invalid):
        await vectors.upsert("ann", [Row(id="ann-c", sparse=TERM, dense=(1.0,))])
    with pytest.raises(Invalid):
        await vectors.query_dense("ann", (1.0,), limit=1)


async def test_an_embedding_of_another_length_is_invalid(server: FakePinecone):
    with fake_pinecone() as dense:
        vectors = PineconeVectors(api_key=API_KEY, sparse_host=server.url, dense_host=dense.url)
        await vectors.upsert("ann", [Row(id="ann-c", sparse=TERM, dense=(1.0, 0.0))])

        with pytest.raises(Invalid):
            await vectors.query_dense("ann", (1.0, 0.0, 0.0), limit=1)
        await vectors.aclose()


async def test_a_refused_request_is_invalid(server: FakePinecone, vectors: PineconeVectors):
    server.status = 400

    with pytest.raises(Invalid):
        await vectors.query_sparse("ann", TERM, limit=1)


async def test_a_failing_index_is_unavailable(server: FakePinecone, vectors: PineconeVectors):
    server.status = 501

    with pytest.raises(Unavailable):
        await vectors.query_sparse("ann", TERM, limit=1)


async def test_an_unreachable_index_is_unavailable():
    unreachable_vectors = PineconeVectors(api_key=API_KEY, sparse_host="http://127.0.0.1:9")

    with pytest.raises(Unavailable):
        await unreachable_vectors.query_sparse("ann", TERM, limit=1)
    await unreachable_vectors.aclose()


async def test_a_wrong_key_raises_the_vendors_error(server: FakePinecone, vectors: PineconeVectors):
    server.status = 401

    with pytest.raises(UnauthorizedError):
        await vectors.query_sparse("ann", TERM, limit=1)
