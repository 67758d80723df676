"""Pages of a search: they fit together, whatever is stored, embedded or deleted meanwhile (E2)."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.library.programs.integrations import library_reader
from functions.library.programs.integrations.integration_schemas import ExternalSearchIn
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.data.conversations.conversations import conversation_path
from shared.data.search.search import NO_FILTERS, Filters, Search, SearchResult
from shared.domain.conversations.conversation import Conversation
from shared.domain.errors import Unavailable
from shared.domain.store.documents import Delete, Write
from tests.fakes import CountingDocuments
from tests.fixtures.chat import ChatFixture, build_chat_fixture
from tests.fixtures.library import CONVERSATIONS, build_client, build_library_deps
from tests.fixtures.processing import ALICE, ProcessingFixture
from tests.fixtures.storage import MemoryDatabase
from tests.functions.chat.library import build_conversation, store_conversations
from tests.shared.data.test_dense_vectors import ThesaurusEmbedder

TALKS = 25


@dataclass
class Library:
    """Talks about a boat, more or less, which are found by words alone at first."""

    chat: ChatFixture

    async def list_page(
        self, number: int, *, search: Search | None = None, filters: Filters = NO_FILTERS
    ) -> list[str]:
        found = await self.find(number, search=search, filters=filters)
        return [hit.conversation.id for hit in found.conversations]

    async def find(
        self, number: int, *, search: Search | None = None, filters: Filters = NO_FILTERS
    ) -> SearchResult:
        """Ask another instance for each page."""
        search = search or Search(self.chat.documents, self.chat.vectors, ThesaurusEmbedder())
        offset, now = 10 * (number - 1), self.chat.clock.now()
        return await search.search_page(
            ALICE, "boat", filters=filters, offset=offset, limit=10, now=now
        )

    async def embed(self, *numbers: int) -> None:
        talks = map(build_talk, numbers)
        await store_conversations(self.chat, ALICE, *talks, embedder=ThesaurusEmbedder())

    async def store_others(self) -> None:
        """Store talks that are nearer than all others."""
        talks = (build_conversation(TALKS + n, *["boat"] * 30) for n in range(4))
        await store_conversations(self.chat, ALICE, *talks)

    async def delete(self, number: int) -> None:
        path = conversation_path(ALICE, build_talk(number).id)
        await self.chat.documents.write(Delete(path))


def build_talk(number: int) -> Conversation:
    return build_conversation(
        number, f"boat {'well ' * number}", "and a yacht" if number % 2 else "and soup"
    )


async def build_library(database: SqliteDatabase) -> Library:
    library = Library(build_chat_fixture(database))
    await store_conversations(library.chat, ALICE, *map(build_talk, range(TALKS)))
    return library


@pytest.fixture
async def library(database: SqliteDatabase) -> Library:
    return await build_library(database)


async def ask_app(world: ProcessingFixture, page: int) -> list[str]:
    async with build_client(world, ALICE) as client:
        answer = await client.post(f"{CONVERSATIONS}/search", json={"query": "boat", "page": page})
    return [hit["id"] for hit in answer.json()["items"]]


async def ask_service(world: ProcessingFixture, page: int) -> list[str]:
    body = ExternalSearchIn(query="boat", page=page)
    deps = build_library_deps(world)
    found = await library_reader.search_conversations(deps, ALICE, body, max_segments=0)
    return [conversation.id for conversation in found.conversations]


@pytest.mark.parametrize("ask", [ask_app, ask_service])
async def test_what_is_stored_between_two_pages_moves_no_hit_e2(
    world: ProcessingFixture,
    library: Library,
    ask: Callable[[ProcessingFixture, int], Awaitable[list[str]]],
):
    expected = [await ask(world, page) for page in (1, 2, 3)]

    first = await ask(world, 1)
    await library.store_others()
    others = [await ask(world, page) for page in (2, 3)]

    assert [first, *others] == expected
    assert [*map(len, expected)] == [10, 10, 5]


@given(
    embedded=st.sets(st.integers(0, TALKS - 1)),
    deleted=st.sets(st.integers(0, TALKS - 1), max_size=5),
    stores=st.booleans(),
)
async def test_each_hit_is_shown_once_whatever_comes_meanwhile_e2(
    embedded: set[int], deleted: set[int], *, stores: bool
):
    library = await build_library(MemoryDatabase())

    shown = await library.list_page(1)
    await library.embed(*embedded)
    for number in deleted:
        await library.delete(number)
    if stores:
        await library.store_others()
    shown += await library.list_page(2)
    shown += await library.list_page(3)

    there = {build_talk(n).id for n in range(TALKS)} - {build_talk(n).id for n in deleted}
    assert len(shown) == len(set(shown))
    assert there <= set(shown)


async def test_the_first_page_is_always_new_and_others_after_ten_minutes_e2(library: Library):
    old = [await library.list_page(n) for n in (1, 2)]
    await library.embed(*range(TALKS))

    library.chat.clock.advance(minutes=10)
    new = await library.list_page(2)
    first = await library.list_page(1)

    assert new != old[1]
    assert first != old[0]
    assert not set(first) & set(new)


async def test_pages_of_a_search_without_its_filters_stay_without_them_e2(library: Library):
    filters = Filters(topics=("sailing",))

    first = await library.find(1, filters=filters)
    sailing = build_conversation(TALKS, "boat")
    topics = replace(sailing.topics, topics=("sailing",))
    await store_conversations(library.chat, ALICE, replace(sailing, topics=topics))
    second = await library.find(2, filters=filters)

    assert [first.fallback_without_filters, second.fallback_without_filters] == [True, True]
    assert [first.total, second.total] == [TALKS, TALKS]


async def test_a_later_page_asks_no_index_and_reads_one_document_more_e2(library: Library):
    counting = CountingDocuments(library.chat.documents)
    await library.list_page(1)

    page = await library.list_page(2, search=Search(counting, UnaskedVectors()))  # type: ignore[arg-type]

    assert (len(page), counting.documents, counting.rounds) == (10, 11, 2)


class UnaskedVectors:
    """No index: any question to it fails."""


async def test_a_store_that_takes_no_writes_still_answers_e2(library: Library):
    search = Search(ReadOnlyDocuments(library.chat.documents), library.chat.vectors)

    assert len(await library.list_page(1, search=search)) == 10


class ReadOnlyDocuments(CountingDocuments):
    async def write(self, *writes: Write) -> None:
        raise Unavailable("as the test wants it")
