"""Conversation keys: what lists sort and filter by, in documents by time, and an index that counts them.

Who changes a conversation does not write them. Each write of a field that stands in a key stamps
`listed_at` on the conversation, and the next reader takes in what was stamped since the last one. A library
that was never listed is read from its newest conversation on, only as far as a list goes.

Also called: materialized view, denormalization, pagination index.
"""

import hashlib
import json
from collections import Counter, OrderedDict
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, get_args

from shared.data.conversations.conversation_key import (
    ConversationFilter,
    ConversationKey,
    Facets,
    KeyPage,
    Position,
)
from shared.data.store.paging import iter_documents
from shared.domain.conversations.conversation import ConversationStatus
from shared.domain.errors import PreconditionFailed, Unavailable
from shared.domain.ids import ConversationId, UserId
from shared.domain.store.documents import Delete, Document, Order, Query, Set, Where, Write
from shared.domain.value import value
from shared.ports import Documents, Transaction

T = TypeVar("T")

MAX_KEYS = 1_000
"""Keys of one document: about 100 KB, and 250 KB where all ids are long."""
MAX_WRITTEN = 10
"""Key documents that one commit writes."""
MAX_CACHED_KEYS = 60_000
"""Decoded keys that a process keeps, at about half a kilobyte each."""
FIRST_BATCH = 100
"""Conversations that are read for a list of a library that was not listed that far."""
NEXT_BATCH = 500
OVERLAP = timedelta(minutes=2)
"""A write may be stored this long after its stamp: clocks differ, and transactions run again."""
KEY_FIELDS = ("created_at", *Facets._fields)
_PAGE_SIZE = 500
_MAX_ATTEMPTS = 3
_EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
_LATEST: Position = (datetime(9999, 1, 1, tzinfo=UTC), ConversationId("~"))
_STATUSES = get_args(ConversationStatus)


class KeysChanged(Unavailable):
    """Another reader stored other keys meanwhile."""


@value
class _Index:
    """What is stored of all pages, the newest first. What is older than `rest` stands in none; None: everything does.

    Changes are taken in until `merged_at`.
    """

    pages: tuple[KeyPage, ...] = ()
    rest: Position | None = _LATEST
    merged_at: datetime = _EARLIEST


class KeyCache:
    """Keeps the keys of documents by the hash of their text; the oldest are evicted."""

    def __init__(self, max_keys: int = MAX_CACHED_KEYS) -> None:
        self._free = max_keys
        self._keys_by_hash: OrderedDict[str, Sequence[ConversationKey]] = OrderedDict()

    def find(self, text_hash: str) -> Sequence[ConversationKey] | None:
        if text_hash in self._keys_by_hash:
            self._keys_by_hash.move_to_end(text_hash)
        return self._keys_by_hash.get(text_hash)

    def keep(self, text_hash: str, keys: Sequence[ConversationKey]) -> None:
        if text_hash not in self._keys_by_hash:
            self._free -= len(keys)
        self._keys_by_hash[text_hash] = keys
        while self._free < 0:
            self._free += len(self._keys_by_hash.popitem(last=False)[1])


class ConversationKeys:
    """The keys of a user's conversations."""

    def __init__(self, documents: Documents, *, max_keys: int = MAX_KEYS) -> None:
        """Put at most `max_keys` keys into a document."""
        self._documents = documents
        self._max_keys = max_keys
        self._cache = KeyCache()

    async def read(
        self, uid: UserId, work: Callable[["KeyList"], Awaitable[T]], *, now: datetime
    ) -> T:
        """Return what `work` reads of the keys with all changes until now, and store what it found out.

        It runs again where another reader stored keys meanwhile; at last, whatever is stored is built anew.
        """
        for attempt in range(_MAX_ATTEMPTS):
            with suppress(KeysChanged):
                keys = await self._open(uid, is_new=attempt == _MAX_ATTEMPTS - 1)
                await keys.take_in_changes(now)
                result = await work(keys)
                await keys.save()
                return result
        raise Unavailable("The keys of conversations changed while they were read")

    async def forget(self, uid: UserId, positions: Iterable[Position], *, now: datetime) -> None:
        """Remove the keys of deleted conversations; lists remove those that are left."""
        await self.read(uid, lambda keys: keys.apply(dict.fromkeys(positions)), now=now)

    async def _open(self, uid: UserId, *, is_new: bool) -> "KeyList":
        document = await self._documents.get(_index_path(uid))
        text = document.fields["index"] if document else None
        index = _Index() if is_new or text is None else _decode_index(text)
        return KeyList(
            self._documents, uid, index, text, cache=self._cache, max_keys=self._max_keys
        )


class KeyList:
    """The keys of a user at one moment: pages are read when they are needed, and written by save()."""

    def __init__(
        self,
        documents: Documents,
        uid: UserId,
        index: _Index,
        stored_text: str | None,
        *,
        cache: KeyCache,
        max_keys: int,
    ) -> None:
        self._documents = documents
        self._uid = uid
        self._pages = list(index.pages)
        self._rest = index.rest
        self._merged_at = index.merged_at
        self._is_due = False
        self._stored_text = stored_text
        self._changed: dict[int, Sequence[ConversationKey]] = {}
        self._gone: set[int] = set()
        self._cache = cache
        self._max_keys = max_keys

    async def iterate(
        self, wanted: ConversationFilter, *, offset: int = 0
    ) -> AsyncGenerator[ConversationKey, None]:
        """Yield the wanted keys after the first `offset`, the newest first. Raises KeysChanged."""
        newest: Position | None = None
        for page in tuple(self._pages):
            count = wanted.count(page, newest)
            newest = page.oldest
            if count is not None and count <= offset:
                offset -= count
                continue
            selected = wanted.select(await self._load(page))
            for key in selected[offset:]:
                yield key
            offset = max(0, offset - len(selected))
        size = FIRST_BATCH
        while self._rest is not None:
            selected = wanted.select(await self._extend(size))
            for key in selected[offset:]:
                yield key
            offset, size = max(0, offset - len(selected)), NEXT_BATCH

    async def count(self, wanted: ConversationFilter) -> int:
        """Count the wanted keys; reads the whole library once. Raises KeysChanged."""
        await self._complete()
        total, newest = 0, None
        for page in self._pages:
            count = wanted.count(page, newest)
            total += len(wanted.select(await self._load(page))) if count is None else count
            newest = page.oldest
        return total

    async def count_facets(self) -> Mapping[Facets, int]:
        """Count all keys by their facets; reads the whole library once. Raises KeysChanged."""
        await self._complete()
        total: Counter[Facets] = Counter()
        for page in self._pages:
            total.update(page.counts)
        return total

    async def take_in_changes(self, now: datetime) -> None:
        """Apply what was stamped since the last reader. Raises KeysChanged."""
        changes = await self._list_changed() if self._merged_at > _EARLIEST else {}
        await self.apply(changes)
        self._is_due = bool(changes) and self._merged_at < now - OVERLAP
        self._merged_at = now

    async def apply(self, changes: Mapping[Position, ConversationKey | None]) -> None:
        """Put keys where they belong, and remove those that are None. Raises KeysChanged."""
        groups: dict[int | None, dict[Position, ConversationKey | None]] = {}
        for position, key in changes.items():
            if self._rest is None or position >= self._rest:
                groups.setdefault(self._find_number(position), {})[position] = key
        for number, group in groups.items():
            page = next((page for page in self._pages if page.number == number), None)
            known = {key.position: key for key in (await self._load(page) if page else ())}
            current = {place: key for place, key in {**known, **group}.items() if key}
            if current != known:
                self._replace(page, sorted(current.values(), reverse=True))
            if len(self._changed) >= MAX_WRITTEN:
                await self.save()

    async def save(self) -> None:
        """Store what changed, together with the index, unless another reader was faster."""
        if not (self._changed or self._gone or self._is_due):
            return
        writes = list(self._build_writes())
        text = self._encode_index()

        async def work(tx: Transaction) -> None:
            document = await tx.get(_index_path(self._uid))
            if (document.fields["index"] if document else None) != self._stored_text:
                raise PreconditionFailed("Another reader stored keys meanwhile")
            tx.write(*writes, Set(_index_path(self._uid), {"index": text}))

        with suppress(PreconditionFailed, Unavailable):
            await self._documents.transaction(work)
            self._stored_text, self._is_due = text, False
            self._changed, self._gone = {}, set()

    async def _complete(self) -> None:
        while self._rest is not None:
            await self._extend(NEXT_BATCH)

    async def _extend(self, count: int) -> Sequence[ConversationKey]:
        """Read so many older conversations, and return their keys."""
        query = Query(
            collection=f"users/{self._uid}/conversations",
            where=(Where("created_at", ">", _EARLIEST),),
            order_by=(Order("created_at", "desc"),),
            limit=count,
            start_after=self._rest,
            fields=(*KEY_FIELDS, "merged_into"),
        )
        documents = await self._documents.query(query)
        last = documents[-1] if len(documents) == count else None
        found = dict(_build_changes(documents))
        self._rest = _read_position(last) if last else None
        self._is_due = bool(documents or self._pages)
        await self.apply(found)
        return [key for key in found.values() if key]

    async def _list_changed(self) -> dict[Position, ConversationKey | None]:
        query = Query(
            collection=f"users/{self._uid}/conversations",
            where=(Where("listed_at", ">", self._merged_at - OVERLAP),),
            order_by=(Order("listed_at"),),
            limit=_PAGE_SIZE,
            fields=(*KEY_FIELDS, "merged_into", "listed_at"),
        )
        changed = [document async for document in iter_documents(self._documents, query)]
        return dict(_build_changes(changed))

    async def _load(self, page: KeyPage) -> Sequence[ConversationKey]:
        """Return the keys of a page, the newest first. Raises KeysChanged."""
        if page.number in self._changed:
            return self._changed[page.number]
        if (cached := self._cache.find(page.text_hash)) is not None:
            return cached
        document = await self._documents.get(_page_path(self._uid, page.number))
        text = document.fields["keys"] if document else ""
        if _hash(text) != page.text_hash:
            raise KeysChanged("The keys of conversations changed while they were read")
        keys = _decode_keys(text)
        self._cache.keep(page.text_hash, keys)
        return keys

    def _find_number(self, position: Position) -> int | None:
        """Return the number of the page where a key belongs; None where there is no page."""
        for page in self._pages:
            if page.oldest <= position:
                return page.number
        return self._pages[-1].number if self._pages else None

    def _replace(self, page: KeyPage | None, keys: Sequence[ConversationKey]) -> None:
        """Put these keys, the newest first, in place of those of a page: into two pages where they are too many."""
        place = self._pages.index(page) if page else 0
        unused = 1 + max((page.number for page in self._pages), default=-1)
        numbers = [
            page.number if page else unused,
            *range(unused + (page is None), unused + len(keys)),
        ]
        parts = list(_split(keys, self._max_keys))
        new = [
            KeyPage(
                number=number,
                text_hash="",
                oldest=part[-1].position,
                counts=Counter(key.facets for key in part),
            )
            for number, part in zip(numbers, parts, strict=False)
        ]
        self._pages[place : place + (page is not None)] = new
        self._changed |= {p.number: part for p, part in zip(new, parts, strict=True)}
        if page and not parts:
            self._changed.pop(page.number, None)
            self._gone.add(page.number)

    def _build_writes(self) -> Iterator[Write]:
        """Yield the writes of changed pages, and note the hashes of their texts."""
        texts = {number: _encode_keys(keys) for number, keys in self._changed.items()}
        hashes = {number: _hash(text) for number, text in texts.items()}
        self._pages = [
            KeyPage(
                number=page.number,
                text_hash=hashes.get(page.number, page.text_hash),
                oldest=page.oldest,
                counts=page.counts,
            )
            for page in self._pages
        ]
        for number, keys in self._changed.items():
            self._cache.keep(hashes[number], keys)
            yield Set(_page_path(self._uid, number), {"keys": texts[number]})
        yield from (Delete(_page_path(self._uid, n)) for n in self._gone - self._changed.keys())

    def _encode_index(self) -> str:
        pages = [
            [
                page.number,
                page.text_hash,
                _dump_position(page.oldest),
                [[*f, n] for f, n in page.counts.items()],
            ]
            for page in self._pages
        ]
        rest = _dump_position(self._rest) if self._rest else None
        return _dumps({"pages": pages, "rest": rest, "merged_at": self._merged_at.isoformat()})


def _decode_index(text: str) -> _Index:
    stored = json.loads(text)
    return _Index(
        pages=tuple(
            KeyPage(
                number=number,
                text_hash=text_hash,
                oldest=_load_position(oldest),
                counts={Facets(*facets): n for *facets, n in counts},
            )
            for number, text_hash, oldest, counts in stored["pages"]
        ),
        rest=_load_position(stored["rest"]) if stored["rest"] else None,
        merged_at=datetime.fromisoformat(stored["merged_at"]),
    )


def _build_changes(
    documents: Iterable[Document],
) -> Iterator[tuple[Position, ConversationKey | None]]:
    """Yield where conversations stand, and their keys: none for those that were merged, or are malformed."""
    for document in documents:
        if not isinstance(document.fields.get("created_at"), datetime):
            continue
        position, status = _read_position(document), document.fields.get("status")
        is_listed = document.fields.get("merged_into") is None and status in (None, *_STATUSES)
        yield position, ConversationKey(position, _read_facets(document)) if is_listed else None


def _read_position(document: Document) -> Position:
    return document.fields["created_at"], ConversationId(document.id)


def _read_facets(document: Document) -> Facets:
    fields = document.fields
    return Facets(
        status=fields.get("status") or "processing",
        discarded=bool(fields.get("discarded")),
        starred=bool(fields.get("starred")),
        folder_id=fields.get("folder_id"),
    )


def _split(keys: Sequence[ConversationKey], max_keys: int) -> Iterator[Sequence[ConversationKey]]:
    """Divide keys evenly into as few parts as hold them."""
    count = -(-len(keys) // max_keys)
    for n in range(count):
        yield keys[n * len(keys) // count : (n + 1) * len(keys) // count]


def _encode_keys(keys: Sequence[ConversationKey]) -> str:
    """Write keys as JSON text: a list would be indexed, and takes longer to read."""
    return _dumps([[*_dump_position(key.position), *key.facets] for key in keys])


def _decode_keys(text: str) -> Sequence[ConversationKey]:
    return [
        ConversationKey(_load_position((at, name)), Facets(*facets))
        for at, name, *facets in json.loads(text)
    ]


def _dump_position(position: Position) -> tuple[str, str]:
    return position[0].isoformat(), position[1]


def _load_position(stored: Sequence[str]) -> Position:
    at, name = stored
    return datetime.fromisoformat(at), ConversationId(name)


def _dumps(content: Any) -> str:
    return json.dumps(content, separators=(",", ":"))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _index_path(uid: UserId) -> str:
    return f"users/{uid}/conversation_keys/index"


def _page_path(uid: UserId, number: int) -> str:
    return f"users/{uid}/conversation_keys/{number}"
