"""Vectors contract, on SQLite and on a server that speaks Pinecone's protocol."""

import math
from array import array
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.adapters.cloud.pinecone_vectors import PineconeVectors
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.adapters.sharded_vectors import ShardedVectors
from shared.domain.errors import Invalid
from shared.domain.ids import UserId
from shared.domain.store.vector_home import VectorHome, hash_home
from shared.domain.store.vectors import Filter, MetadataValue, Row, SparseVector
from shared.ports import Vectors
from tests.servers.pinecone import API_KEY, fake_pinecone

ANY_TERM = SparseVector((1,), (1.0,))
ADAPTERS = ["sqlite", "pinecone", "sharded"]


@asynccontextmanager
async def open_vectors(kind: str) -> AsyncIterator[Vectors]:
    async with AsyncExitStack() as stack:
        if kind == "sqlite":
            folder = stack.enter_context(TemporaryDirectory())
            database = SqliteDatabase(Path(folder) / "keepsake.db")
            stack.callback(database.close)
            yield SqliteVectors(database)
        elif kind == "sharded":
            yield ShardedVectors(
                [
                    (range(512), await stack.enter_async_context(open_vectors("sqlite"))),
                    (range(512, 1_024), await stack.enter_async_context(open_vectors("sqlite"))),
                ],
                find_home,
            )
        else:
            sparse, dense = (stack.enter_context(fake_pinecone()) for _ in range(2))
            pinecone = PineconeVectors(
                api_key=API_KEY, sparse_host=sparse.url, dense_host=dense.url
            )
            stack.push_async_callback(pinecone.aclose)
            yield pinecone


async def find_home(uid: UserId) -> VectorHome:
    """Let the users of these tests live in different shards, and the last one be moved."""
    return VectorHome(bucket=0, twin=1_000) if uid == "ann-" else hash_home(uid)


@pytest.fixture(params=ADAPTERS)
async def vectors(request: pytest.FixtureRequest) -> AsyncIterator[Vectors]:
    async with open_vectors(request.param) as vectors:
        yield vectors


def build_row(row_id: str, terms: dict[int, float], **metadata: MetadataValue) -> Row:
    return Row(id=row_id, sparse=build_sparse(terms), metadata=metadata)


def build_dense_row(row_id: str, *dense: float, **metadata: MetadataValue) -> Row:
    return Row(id=row_id, sparse=ANY_TERM, dense=dense, metadata=metadata)


def build_sparse(terms: dict[int, float]) -> SparseVector:
    ordered = sorted(terms)
    return SparseVector(tuple(ordered), tuple(terms[index] for index in ordered))


async def search_ids(
    vectors: Vectors, namespace: str, terms: dict[int, float], where: Filter | None = None
) -> list[str]:
    hits = await vectors.query_sparse(namespace, build_sparse(terms), limit=100, where=where)
    return [hit.id for hit in hits]


async def test_rows_come_best_first_with_their_dot_product(vectors: Vectors):
    await vectors.upsert(
        "a", [build_row("weak", {1: 0.5, 9: 3.0}), build_row("strong", {1: 1.5, 2: 0.25})]
    )

    hits = await vectors.query_sparse("a", build_sparse({1: 2.0, 2: 4.0}), limit=10)

    assert [(hit.id, hit.score) for hit in hits] == [("strong", 4.0), ("weak", 1.0)]


async def test_a_hit_lists_the_weight_of_each_query_term_p11(vectors: Vectors):
    await vectors.upsert(
        "a", [build_row("both", {1: 1.5, 3: 0.25}), build_row("one", {3: 2.0, 9: 1.0})]
    )
    await vectors.upsert("a", [build_row("late", {2: 0.5}), build_row("one", {3: 1.0})])

    hits = await vectors.query_sparse("a", build_sparse({1: 2.0, 2: 1.0, 3: 1.0}), limit=10)

    assert {hit.id: hit.term_weights for hit in hits} == {
        "both": (1.5, 0.0, 0.25),
        "one": (0.0, 0.0, 1.0),
        "late": (0.0, 0.5, 0.0),
    }


async def test_rows_that_share_no_term_are_not_found(vectors: Vectors):
    await vectors.upsert("a", [build_row("r", {1: 1.0})])

    assert await search_ids(vectors, "a", {2: 1.0}) == []
    assert await search_ids(vectors, "a", {}) == []
    assert await search_ids(vectors, "never written", {1: 1.0}) == []


async def test_a_limit_keeps_the_best(vectors: Vectors):
    await vectors.upsert("a", [build_row(f"r{n}", {1: float(n)}) for n in range(1, 8)])

    hits = await vectors.query_sparse("a", build_sparse({1: 1.0}), limit=2)

    assert [hit.id for hit in hits] == ["r7", "r6"]


async def test_a_row_is_replaced_as_a_whole(vectors: Vectors):
    await vectors.upsert("a", [build_row("r", {1: 1.0}, kind="old")])
    assert await search_ids(vectors, "a", {1: 1.0}) == ["r"]

    await vectors.upsert("a", [build_row("r", {2: 1.0}, kind="new")])

    assert await search_ids(vectors, "a", {1: 1.0}) == []
    [hit] = await vectors.query_sparse("a", build_sparse({2: 1.0}), limit=10)
    assert hit.metadata == {"kind": "new"}


async def test_deleted_rows_are_not_found_and_the_others_stay(vectors: Vectors):
    await vectors.upsert("a", [build_row("r1", {1: 1.0}), build_row("r2", {1: 2.0})])
    assert await search_ids(vectors, "a", {1: 1.0}) == ["r2", "r1"]

    await vectors.delete("a", ["r2", "was never there"])

    assert await search_ids(vectors, "a", {1: 1.0}) == ["r1"]


async def test_a_deleted_namespace_is_empty_and_may_be_written_again(vectors: Vectors):
    await vectors.upsert("a", [build_row("r1", {1: 1.0})])
    await vectors.upsert("b", [build_row("r1", {1: 1.0})])
    assert await search_ids(vectors, "a", {1: 1.0}) == ["r1"]

    await vectors.delete_namespace("a")
    assert await search_ids(vectors, "a", {1: 1.0}) == []
    assert await search_ids(vectors, "b", {1: 1.0}) == ["r1"]

    await vectors.upsert("a", [build_row("r2", {1: 1.0})])
    assert await search_ids(vectors, "a", {1: 1.0}) == ["r2"]


async def test_deleting_from_an_unknown_namespace_leaves_the_others(vectors: Vectors):
    await vectors.upsert("a", [build_row("r", {1: 1.0})])

    await vectors.delete("nowhere", ["r"])
    await vectors.delete("nowhere", [])
    await vectors.delete_namespace("nowhere")

    assert await search_ids(vectors, "a", {1: 1.0}) == ["r"]


async def test_writing_and_deleting_nothing_changes_nothing(vectors: Vectors):
    await vectors.upsert("a", [build_row("r", {1: 1.0})])

    await vectors.upsert("a", [])
    await vectors.delete("a", [])

    assert await search_ids(vectors, "a", {1: 1.0}) == ["r"]


async def test_many_rows_are_written_in_one_call(vectors: Vectors):
    await vectors.upsert("a", [build_row(f"r{n:03}", {n: 1.0, 9999: 1.0}) for n in range(230)])

    hits = await vectors.query_sparse("a", build_sparse({9999: 1.0}), limit=1000)

    assert {hit.id for hit in hits} == {f"r{n:03}" for n in range(230)}


async def test_metadata_comes_back_as_it_was_written(vectors: Vectors):
    metadata: dict[str, MetadataValue] = {
        "kind": "chunk",
        "created_at": 1_772_000_000,
        "share": 0.5,
        "own": True,
        "people": ["Ada", "Zoë"],
        "none": [],
    }
    await vectors.upsert("a", [Row(id="r", sparse=build_sparse({1: 1.0}), metadata=metadata)])

    [hit] = await vectors.query_sparse("a", build_sparse({1: 1.0}), limit=1)

    assert hit.metadata == metadata
    assert isinstance(hit.metadata["created_at"], int)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"kind": {"$eq": "chunk"}}, "ab"),
        ({"kind": "chunk"}, "ab"),
        ({"kind": {"$ne": "chunk"}}, "c"),
        ({"kind": {"$in": ["summary", "memory"]}}, "c"),
        ({"kind": {"$nin": ["summary", "memory"]}}, "ab"),
        ({"people": {"$in": ["Ada", "Eve"]}}, "ac"),
        ({"people": {"$eq": "Bob"}}, "a"),
        ({"at": {"$gt": 1}}, "bc"),
        ({"at": {"$gte": 1}}, "abc"),
        ({"at": {"$lt": 2}}, "a"),
        ({"at": {"$lte": 2}}, "ab"),
        ({"at": {"$gte": 2, "$lt": 3}}, "b"),
        ({"people": {"$in": ["Ada", "Eve"]}, "at": {"$gte": 2}}, "c"),
        ({"people": {"$in": ["ada"]}}, ""),
        ({"absent": {"$in": ["x"]}}, ""),
        ({"absent": {"$gte": 0}}, ""),
        ({"absent": {"$eq": "x"}}, ""),
        ({"$and": [{"kind": "chunk"}, {"at": {"$gt": 1}}]}, "b"),
        ({"$or": [{"kind": "summary"}, {"at": {"$lt": 2}}]}, "ac"),
        ({"kind": "chunk", "at": 2}, "b"),
        ({}, "abc"),
    ],
)
async def test_filters_mean_what_pinecone_says(vectors: Vectors, where: Filter, expected: str):
    await vectors.upsert(
        "u",
        [
            build_row("a", {1: 3.0}, kind="chunk", at=1, people=["Ada", "Bob"]),
            build_row("b", {1: 2.0}, kind="chunk", at=2, people=[]),
            build_row("c", {1: 1.0}, kind="summary", at=3, people=["Eve"]),
        ],
    )

    assert "".join(await search_ids(vectors, "u", {1: 1.0}, where)) == expected


async def test_a_filter_finds_rows_that_rank_far_below(vectors: Vectors):
    many = [build_row(f"r{n}", {1: 2.0}, kind="chunk") for n in range(40)]
    await vectors.upsert("a", [*many, build_row("low", {1: 0.5}, kind="memory")])

    hits = await vectors.query_sparse(
        "a", build_sparse({1: 1.0}), limit=3, where={"kind": "memory"}
    )

    assert [hit.id for hit in hits] == ["low"]


@pytest.mark.parametrize("where", [{"at": {"$near": 1}}, {"at": {"$gt": "yesterday"}}])
async def test_an_invalid_filter_is_refused(vectors: Vectors, where: Filter):
    await vectors.upsert("a", [build_row("r", {1: 1.0}, at=1)])

    with pytest.raises(Invalid):
        await vectors.query_sparse("a", build_sparse({1: 1.0}), limit=1, where=where)


@pytest.mark.parametrize(
    "refused",
    [
        build_row("too-many-terms", dict.fromkeys(range(1001), 1.0)),
        build_row("no-terms", {}),
        build_row("not-32-bits", {2**32: 1.0}),
        build_row("ï", {1: 1.0}),
        build_row("r" * 513, {1: 1.0}),
        build_row("", {1: 1.0}),
        build_row("large", {1: 1.0}, topics=["x" * 100] * 410),
        Row(id="nested", sparse=build_sparse({1: 1.0}), metadata={"map": {"a": 1}}),  # type: ignore[dict-item]
    ],
    ids=lambda refused: refused.id[:20],
)
async def test_a_row_beyond_the_limits_is_refused_and_nothing_written(
    vectors: Vectors, refused: Row
):
    with pytest.raises(Invalid):
        await vectors.upsert("a", [build_row("fine", {1: 1.0}), refused])

    assert await search_ids(vectors, "a", {1: 1.0}) == []


async def test_a_row_at_the_limits_is_stored(vectors: Vectors):
    await vectors.upsert(
        "a", [build_row("r" * 512, dict.fromkeys(range(2**32 - 1000, 2**32), 1.0))]
    )

    assert await search_ids(vectors, "a", {2**32 - 1: 1.0}) == ["r" * 512]


@pytest.mark.parametrize("dense", [(), (0.0, 0.0), (1.0, float("nan")), (float("inf"),)])
async def test_a_vector_that_has_no_cosine_is_refused(vectors: Vectors, dense: tuple[float, ...]):
    with pytest.raises(Invalid):
        await vectors.upsert("a", [build_dense_row("r", *dense)])
    with pytest.raises(Invalid):
        await vectors.query_dense("a", dense, limit=1)

    assert await search_ids(vectors, "a", {1: 1.0}) == []


async def test_dense_rows_come_nearest_first_with_their_cosine(vectors: Vectors):
    await vectors.upsert(
        "a",
        [
            build_dense_row("across", 0.0, 2.0),
            build_dense_row("against", -3.0, 0.0),
            build_dense_row("along", 5.0, 0.0),
        ],
    )

    hits = await vectors.query_dense("a", (0.5, 0.0), limit=10)

    assert [hit.id for hit in hits] == ["along", "across", "against"]
    assert [hit.score for hit in hits] == pytest.approx([1, 0, -1])


async def test_rows_without_dense_values_are_found_by_words_alone(vectors: Vectors):
    await vectors.upsert("a", [build_row("words", {1: 1.0}), build_dense_row("both", 1.0, 1.0)])

    hits = await vectors.query_dense("a", (1.0, 0.0), limit=10)

    assert [hit.id for hit in hits] == ["both"]
    assert set(await search_ids(vectors, "a", {1: 1.0})) == {"words", "both"}


async def test_a_row_written_again_without_dense_values_has_none(vectors: Vectors):
    await vectors.upsert("a", [build_dense_row("r", 1.0, 0.0)])
    assert len(await vectors.query_dense("a", (1.0, 0.0), limit=10)) == 1

    await vectors.upsert("a", [build_row("r", {1: 1.0})])

    assert await vectors.query_dense("a", (1.0, 0.0), limit=10) == []


async def test_a_deleted_row_is_found_by_neither_query_p30(vectors: Vectors):
    await vectors.upsert(
        "a", [build_dense_row("gone", 1.0, 0.0), build_dense_row("stays", 0.5, 0.5)]
    )
    assert len(await vectors.query_dense("a", (1.0, 0.0), limit=10)) == 2

    await vectors.delete("a", ["gone"])

    assert [hit.id for hit in await vectors.query_dense("a", (1.0, 0.0), limit=10)] == ["stays"]
    assert await search_ids(vectors, "a", {1: 1.0}) == ["stays"]
    assert await vectors.fetch("a", ["gone"]) == {}


async def test_an_erased_namespace_holds_nothing_p30(vectors: Vectors):
    await vectors.upsert("a", [build_dense_row("r", 1.0, 0.0)])
    await vectors.delete_namespace("a")

    assert await vectors.query_dense("a", (1.0, 0.0), limit=10) == []
    assert await vectors.fetch("a", ["r"]) == {}


async def test_dates_and_kind_filter_dense_queries_too_p11(vectors: Vectors):
    await vectors.upsert(
        "a",
        [
            build_dense_row("old", 1.0, 0.0, kind="chunk", created_at=10),
            build_dense_row("new", 1.0, 0.1, kind="chunk", created_at=20),
            build_dense_row("memory", 1.0, 0.0, kind="memory", created_at=20),
        ],
    )
    where: Filter = {"kind": {"$eq": "chunk"}, "created_at": {"$gte": 15}}

    hits = await vectors.query_dense("a", (1.0, 0.0), limit=1, where=where)

    assert [hit.id for hit in hits] == ["new"]


async def test_equal_scores_keep_their_order_whatever_the_limit(vectors: Vectors):
    await vectors.upsert("a", [build_dense_row(f"r{n}", 1.0, 2.0) for n in range(30)])

    all_sparse_ids = await search_ids(vectors, "a", {1: 1.0})
    few_sparse_hits = await vectors.query_sparse("a", ANY_TERM, limit=7)
    all_dense_hits = await vectors.query_dense("a", (1.0, 0.0), limit=30)
    few_dense_hits = await vectors.query_dense("a", (1.0, 0.0), limit=7)

    assert [hit.id for hit in few_sparse_hits] == all_sparse_ids[:7]
    assert few_dense_hits == all_dense_hits[:7]


async def test_rows_are_fetched_as_they_were_written(vectors: Vectors):
    rows = [
        build_dense_row("both", 0.5, -0.25, kind="chunk", at=7),
        build_row("words", {2: 1.5, 9: 0.5}),
    ]
    await vectors.upsert("a", rows)
    await vectors.upsert("b", [build_row("theirs", {1: 1.0})])

    stored_rows = await vectors.fetch("a", ["words", "both", "theirs", "never written"])

    assert stored_rows == {row.id: row for row in rows}


async def test_fetching_many_and_nothing(vectors: Vectors):
    await vectors.upsert("a", [build_row(f"r{n}", {1: 1.0}) for n in range(130)])

    assert len(await vectors.fetch("a", [f"r{n}" for n in range(130)])) == 130
    assert await vectors.fetch("a", []) == {}
    assert await vectors.fetch("nowhere", ["r"]) == {}


weight_strategy = st.integers(1, 2000).map(lambda n: n / 256)
term_weights_strategy = st.dictionaries(st.integers(0, 6), weight_strategy, min_size=1)
library_strategy = st.dictionaries(
    st.tuples(st.sampled_from(["ann", "bob", "ann-"]), st.sampled_from("abcdef")),
    term_weights_strategy,
)


@pytest.mark.parametrize("kind", ADAPTERS)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(library_strategy, term_weights_strategy)
async def test_sparse_hits_are_the_callers_own_with_their_dot_product_p11(
    kind: str, library: dict[tuple[str, str], dict[int, float]], query: dict[int, float]
):
    async with open_vectors(kind) as vectors:
        for (uid, name), terms in library.items():
            await vectors.upsert(uid, [build_row(f"{uid}-{name}", terms, uid=uid)])
        hits = await vectors.query_sparse("ann", build_sparse(query), limit=100)

    expected = {
        f"{uid}-{name}": sum(terms.get(index, 0.0) * weight for index, weight in query.items())
        for (uid, name), terms in library.items()
        if uid == "ann"
    }
    assert {hit.id: hit.score for hit in hits} == {k: s for k, s in expected.items() if s > 0}
    assert all(hit.metadata["uid"] == "ann" for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


dense_vector_strategy = st.tuples(
    weight_strategy, st.one_of(weight_strategy, weight_strategy.map(lambda n: -n))
)


@pytest.mark.parametrize("kind", ADAPTERS)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["ann", "bob", "ann-"]), st.sampled_from("abcdef")),
        dense_vector_strategy,
    ),
    dense_vector_strategy,
)
async def test_dense_hits_are_the_callers_own_with_their_cosine_p11(
    kind: str, library: dict[tuple[str, str], tuple[float, float]], query: tuple[float, float]
):
    async with open_vectors(kind) as vectors:
        for (uid, name), dense in library.items():
            await vectors.upsert(uid, [build_dense_row(f"{uid}-{name}", *dense)])
        hits = await vectors.query_dense("ann", query, limit=100)

    expected = {
        f"{uid}-{name}": (a * query[0] + b * query[1]) / math.hypot(a, b) / math.hypot(*query)
        for (uid, name), (a, b) in library.items()
        if uid == "ann"
    }
    assert {hit.id: hit.score for hit in hits} == pytest.approx(expected, abs=1e-5)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_the_generated_weights_are_exact_in_32_bits():
    weights = [n / 256 for n in range(1, 2001)]

    assert array("f", weights).tolist() == weights
