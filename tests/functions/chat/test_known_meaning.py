"""Known by meaning: what a question is about decides what of the library is given, in any language (E3, C54)."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace

import pytest

from functions.chat.deps import ChatDeps
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from shared.adapters.embedded.encoder_process import EncoderProcess
from shared.adapters.embedded.local_embedder import LocalEmbedder
from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.data.search.question_meaning import QuestionMeanings
from shared.data.search.search import Search
from shared.reading.crisis_rules import find_crisis
from tests.fakes import UnmaskedModels
from tests.fixtures.chat import ADA, ChatFixture
from tests.fixtures.encoder import needs_encoder
from tests.functions.chat.library import store_conversations, store_memories
from tests.functions.chat.test_known import DENTIST, LISBON, ask
from tests.functions.chat.test_turn import ask as ask_model
from tests.functions.chat.test_turn import require_end

pytestmark = [pytest.mark.anyio, needs_encoder]
FAREWELL = (
    "I wrote the letters and gave the dog to my sister. After tonight nobody has to worry about me."
)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """Be asked once for the module, as the embedder is."""
    return "asyncio"


@pytest.fixture(scope="module")
async def embedder() -> AsyncIterator[LocalEmbedder]:
    """The encoder that comes as a package."""
    async with aclosing(LocalEmbedder(EncoderProcess())) as local:
        yield local


async def open_library(world: ChatFixture, embedder: LocalEmbedder) -> ChatDeps:
    """Return the chat over two conversations and a fact, all of them embedded."""
    await store_conversations(world, ADA, LISBON, DENTIST, embedder=embedder)
    await store_memories(world, ADA, ["User is allergic to peanuts"], embedder=embedder)
    assert isinstance(world.vectors, SqliteVectors)
    waiting = await world.vectors.list_waiting(100)
    vectors = await embedder.embed(ADA, [each.text for each in waiting])
    await world.vectors.add_dense(waiting, vectors)
    return replace(
        world.deps(),
        search=Search(world.documents, world.vectors, embedder),
        meanings=QuestionMeanings(embedder.embed_question),
    )


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


async def test_what_is_like_the_words_of_people_in_a_crisis_is_judged_first_g1(
    world: ChatFixture, embedder: LocalEmbedder
) -> None:
    deps = await open_library(world, embedder)
    texts = (
        "Ich habe alles geregelt, morgen bin ich nicht mehr da.",
        "Was hat der Zahnarzt gesagt?",
    )

    certainties = []
    for text in texts:
        turn = await prepare_turn(deps, ADA, Question(text))
        certainties.append((find_crisis(text).certainty, turn.finding.certainty))

    assert certainties == [("clear", "unsure"), ("clear", "clear")]


async def test_without_a_model_such_a_message_is_told_whom_to_call_g1(
    world: ChatFixture, embedder: LocalEmbedder
) -> None:
    deps = await open_library(world, embedder)
    deps = replace(deps, model=UnmaskedModels(model=OfflineModel()))

    events = await ask_model(deps, FAREWELL)

    assert "findahelpline.com" in require_end(events).message.text
