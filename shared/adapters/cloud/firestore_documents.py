"""Documents on Firestore.

Also called: document database, NoSQL.
"""

import asyncio
import heapq
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any, TypeVar
from zlib import crc32

from google.api_core import exceptions as api
from google.api_core.datetime_helpers import DatetimeWithNanoseconds
from google.api_core.retry import AsyncRetry, if_exception_type
from google.cloud import firestore
from google.cloud.firestore_v1.async_aggregation import AsyncAggregationQuery

from shared.adapters import firestore_limits as limits
from shared.adapters.cloud import firestore_client
from shared.adapters.cloud.grpc_cancellation import keep_cancellation
from shared.adapters.firestore_indexes import DUE_SHARD, DUE_SHARDS, order_by_summed
from shared.adapters.store_clock import StoreClock
from shared.domain.errors import AlreadyExists, Invalid, PreconditionFailed, Unavailable
from shared.domain.ids import UserId
from shared.domain.store.documents import (
    LIST_OPERATORS,
    ArrayUnion,
    Create,
    Delete,
    Direction,
    Document,
    Increment,
    Query,
    Remove,
    Set,
    Update,
    Where,
    Write,
)
from shared.ports import Transaction

T = TypeVar("T")

TIMEOUT_S = 10.0
RETRY_TIMEOUT_S = 30.0
TREE_TIMEOUT_S = 60.0
PROBE_TIMEOUT_S = 1.0
MAX_ATTEMPTS = 5
DUE_GROUPS = frozenset({"bin", "processing", "renewals", "runs"})
"""The collections whose documents are looked for when they are due, over all users."""

DIRECTIONS: dict[Direction, str] = {"asc": "ASCENDING", "desc": "DESCENDING"}
# Aborted means that nothing was written; after any other failure something may have been.
RETRY_POLICY = AsyncRetry(
    predicate=if_exception_type(api.Aborted), initial=0.05, maximum=1.0, timeout=RETRY_TIMEOUT_S
)
TRANSACTION_OVER = ("transaction has expired", "transaction is invalid or closed")
"""How Firestore and its emulator say, as an invalid argument, that a transaction took too long or was committed.

The client sends a commit again whose answer was lost, so that this one may have been written.
"""
TRANSIENT_ERRORS = (
    api.Aborted,
    api.Cancelled,
    api.DeadlineExceeded,
    api.GatewayTimeout,
    api.InternalServerError,
    api.ResourceExhausted,
    api.RetryError,
    api.ServiceUnavailable,
    api.TooManyRequests,
    api.Unknown,
)


class FirestoreDocuments:
    """The Documents port on one Firestore database."""

    def __init__(self, client: firestore.AsyncClient, clock: StoreClock) -> None:
        """Raises Unavailable at once when the client's emulator does not run; `clock` learns from answers."""
        _probe(firestore_client.get_emulator(client))
        self._client = client
        self._clock = clock

    def connect(self) -> None:
        """Begin to connect in the loop that runs, and to fetch a token; what fails is tried by the first call again."""
        firestore_client.connect(self._client)

    async def get(self, path: str) -> Document | None:
        return (await self.get_many([path]))[0]

    async def get_many(
        self, paths: Sequence[str], *, known: Mapping[str, str] | None = None
    ) -> list[Document | None]:
        return await _get_many(self._client, paths, self._build_observer())

    async def query(self, query: Query) -> list[Document]:
        limits.check_query(query)
        async with _translate_errors():
            snapshots = await _build_query(self._client, query).get(timeout=TIMEOUT_S)
            return [_to_document(snapshot) for snapshot in snapshots]

    async def list_due(
        self, collection_name: str, until: datetime, *, limit: int, after: datetime | None = None
    ) -> list[Document]:
        read = partial(self._list_due_of_shard, collection_name, until, limit=limit, after=after)
        async with _translate_errors():
            shards = await asyncio.gather(*map(read, range(DUE_SHARDS)))
        return heapq.nsmallest(limit, chain(*shards), key=lambda each: each.fields["due_at"])

    async def _list_due_of_shard(
        self, group: str, until: datetime, shard: int, *, limit: int, after: datetime | None
    ) -> list[Document]:
        query = self._client.collection_group(group)
        query = query.where(filter=firestore.FieldFilter(DUE_SHARD, "==", shard))
        query = query.where(filter=firestore.FieldFilter("due_at", "<=", until))
        if after is not None:
            query = query.where(filter=firestore.FieldFilter("due_at", ">", after))
        snapshots = await query.order_by("due_at").limit(limit).get(timeout=TIMEOUT_S)
        return [_to_document(snapshot) for snapshot in snapshots]

    async def list_users(self, limit: int, *, after: str | None) -> tuple[list[UserId], str | None]:
        """List also those who have no document of their own, but some below it."""
        async with _translate_errors():
            page = await firestore_client.list_page(
                self._client, "users", limit, after, timeout_s=TIMEOUT_S
            )
        users = [UserId(document.name.rsplit("/", 1)[1]) for document in page.documents]
        return users, page.next_page_token or None

    async def count(self, query: Query) -> int:
        limits.check_query(query)
        async with _translate_errors():
            [[result]] = await _build_query(self._client, query).count().get(timeout=TIMEOUT_S)
            return int(result.value)

    async def sum(self, query: Query, fields: Sequence[str]) -> list[int]:
        summed_query = order_by_summed(query, fields)
        limits.check_query(summed_query)
        aggregation = AsyncAggregationQuery(_build_query(self._client, summed_query))
        for number, field in enumerate(fields):
            aggregation.sum(field, alias=str(number))
        async with _translate_errors():
            [results] = await aggregation.get(timeout=TIMEOUT_S)
        sums = {result.alias: int(result.value) for result in results}
        return [sums[str(number)] for number in range(len(fields))]

    async def write(self, *writes: Write) -> None:
        limits.check_writes(writes)
        batch = self._client.batch()
        _add_writes(self._client, batch, writes)
        async with _translate_errors():
            await batch.commit(retry=RETRY_POLICY, timeout=TIMEOUT_S)

    async def transaction(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        observe = self._build_observer()

        @firestore.async_transactional
        async def run(transaction: firestore.AsyncTransaction) -> T:
            attempt = _FirestoreTransaction(self._client, transaction, observe)
            value = await work(attempt)
            limits.check_writes(attempt.writes)
            _add_writes(self._client, transaction, attempt.writes)
            return value

        async with _translate_errors():
            try:
                value: T = await run(
                    firestore_client.QuietTransaction(self._client, max_attempts=MAX_ATTEMPTS)
                )
            except ValueError as error:
                # The client tells so that all attempts were in vain.
                if isinstance(error.__cause__, api.Aborted):
                    raise Unavailable("Other writers change the same documents") from error
                raise
        return value

    async def delete_tree(self, path: str) -> int:
        limits.check_document_path(path)
        paths = [document.path for document in [await self.get(path)] if document]
        async with _translate_errors():
            paths += [name async for name in self._iterate_descendants(path)]
        for n in range(0, len(paths), limits.MAX_WRITES):
            await self.write(*(Delete(name) for name in paths[n : n + limits.MAX_WRITES]))
        return len(paths)

    def _build_observer(self) -> Callable[[datetime], None]:
        """Let the clock learn from the time in the answer to a question that is asked from now on."""
        return partial(self._clock.observe, asked_at=self._clock.read_machine())

    async def _iterate_descendants(self, path: str) -> AsyncIterator[str]:
        """Yield the paths of all documents below a document, however deep."""
        reference = self._client.document(path)
        async for collection in reference.collections(timeout=TIMEOUT_S):
            documents = collection.recursive().select(["__name__"])
            async for snapshot in documents.stream(timeout=TREE_TIMEOUT_S):
                yield snapshot.reference.path


class _FirestoreTransaction:
    """One attempt: reads at once, and keeps the writes for the commit."""

    def __init__(
        self,
        client: firestore.AsyncClient,
        transaction: firestore.AsyncTransaction,
        observe: Callable[[datetime], None],
    ) -> None:
        self._client = client
        self._transaction = transaction
        self._observe = observe
        self.writes: list[Write] = []

    async def get(self, path: str) -> Document | None:
        return (await self.get_many([path]))[0]

    async def get_many(self, paths: Sequence[str]) -> list[Document | None]:
        if self.writes:
            raise Invalid("A transaction reads before it writes")
        return await _get_many(self._client, paths, self._observe, self._transaction)

    def write(self, *writes: Write) -> None:
        self.writes += writes


async def _get_many(
    client: firestore.AsyncClient,
    paths: Sequence[str],
    observe: Callable[[datetime], None],
    transaction: firestore.AsyncTransaction | None = None,
) -> list[Document | None]:
    """Sort what Firestore returns in any order into the order of the paths."""
    for path in paths:
        limits.check_document_path(path)
    if not paths:
        return []  # Firestore answers an empty read with UNKNOWN
    references = [client.document(path) for path in dict.fromkeys(paths)]
    async with _translate_errors():
        answers = client.get_all(references, transaction=transaction, timeout=TIMEOUT_S)
        snapshots = [snapshot async for snapshot in answers]
    observe(snapshots[-1].read_time)
    documents = {s.reference.path: _to_document(s) for s in snapshots if s.exists}
    return [documents.get(path) for path in paths]


def _build_query(client: firestore.AsyncClient, query: Query) -> Any:
    firestore_query: Any = client.collection(query.collection)
    for where in query.where:
        firestore_query = firestore_query.where(filter=_to_filter(where))
    if query.any_of:
        firestore_query = firestore_query.where(
            filter=firestore.Or([_to_filter(where) for where in query.any_of])
        )
    for order in query.order_by:
        firestore_query = firestore_query.order_by(
            _to_field_path(order.field), direction=DIRECTIONS[order.direction]
        )
    if query.start_after is not None:
        last_direction = query.order_by[-1].direction if query.order_by else "asc"
        firestore_query = firestore_query.order_by("__name__", direction=DIRECTIONS[last_direction])
        firestore_query = firestore_query.start_after(list(query.start_after))
    if query.limit is not None:
        firestore_query = firestore_query.limit(query.limit)
    if query.fields is not None:
        firestore_query = firestore_query.select([_to_field_path(name) for name in query.fields])
    return firestore_query


def _to_filter(where: Where) -> Any:
    value = list(where.value) if where.operator in LIST_OPERATORS else where.value
    return firestore.FieldFilter(_to_field_path(where.field), where.operator, value)


def _add_writes(client: firestore.AsyncClient, batch: Any, writes: Sequence[Write]) -> None:
    for write in writes:
        reference = client.document(write.path)
        match write:
            case Create(fields=fields):
                batch.create(reference, _add_due_shard(write.path, fields))
            case Set(fields=fields):
                batch.set(reference, _add_due_shard(write.path, fields))
            case Update(changes=changes, version=version):
                values = {
                    _to_field_path(name): _to_firestore_value(value)
                    for name, value in _add_due_shard(write.path, changes).items()
                }
                batch.update(reference, values, option=_to_write_option(version))
            case Delete(version=version):
                batch.delete(reference, option=_to_write_option(version))


def _add_due_shard(path: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Add to what is due the shard by which it is found: times that grow in one range bound its writes."""
    if "due_at" not in fields or path.split("/")[-2] not in DUE_GROUPS:
        return dict(fields)
    return {**fields, DUE_SHARD: crc32(path.encode()) % DUE_SHARDS}


def _to_firestore_value(value: Any) -> Any:
    match value:
        case Increment(by=by):
            return firestore.Increment(by)
        case ArrayUnion(values=values):
            return firestore.ArrayUnion(list(values))
        case Remove():
            return firestore.DELETE_FIELD
        case _:
            return value


def _to_write_option(version: str | None) -> Any:
    if version is None:
        return None
    time = DatetimeWithNanoseconds.from_rfc3339(version)
    return firestore.AsyncClient.write_option(last_update_time=time)


def _to_field_path(dotted: str) -> str:
    """Quote a field path if Firestore's grammar requires it."""
    path: str = firestore.AsyncClient.field_path(*dotted.split("."))
    return path


def _to_document(snapshot: Any) -> Document:
    fields = {
        name: _to_plain(value) for name, value in snapshot.to_dict().items() if name != DUE_SHARD
    }
    time = snapshot.update_time  # of a query over collection groups as the wire has it
    version = time.rfc3339() if hasattr(time, "rfc3339") else time.ToJsonString()
    return Document(path=snapshot.reference.path, fields=fields, version=version)


def _to_plain(value: Any) -> Any:
    """Convert the client's own time type into datetime."""
    if isinstance(value, datetime):
        return datetime.combine(value.date(), value.timetz())
    if isinstance(value, dict):
        return {name: _to_plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_to_plain(item) for item in value]
    return value


def _probe(emulator: str | None) -> None:
    """Check that the emulator is up; otherwise the first call would wait a minute."""
    if emulator is None:
        return
    host, _, port = emulator.rpartition(":")
    try:
        socket.create_connection((host, int(port)), PROBE_TIMEOUT_S).close()
    except OSError as error:
        raise Unavailable(f"No Firestore emulator answers at {emulator}: start it") from error


@asynccontextmanager
async def _translate_errors() -> AsyncIterator[None]:
    try:
        async with keep_cancellation():
            yield
    except api.AlreadyExists as error:
        raise AlreadyExists("There is a document at this path already") from error
    except api.NotFound as error:
        raise PreconditionFailed("There is no document to change") from error
    except api.FailedPrecondition as error:
        if "index" in error.message:
            raise Invalid(error.message) from error
        raise PreconditionFailed("The document has changed") from error
    except api.InvalidArgument as error:
        if any(reason in error.message.lower() for reason in TRANSACTION_OVER):
            raise Unavailable("The transaction is over, and may have been written") from error
        raise Invalid(error.message) from error
    except TRANSIENT_ERRORS as error:
        raise Unavailable("Firestore does not answer") from error
