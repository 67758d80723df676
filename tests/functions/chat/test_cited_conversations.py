"""Cited conversations in old messages: what became of them since the answer (E4)."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from shared.data.conversations.conversations import conversation_path
from shared.data.search.library_index import LibraryIndex
from shared.data.stores import Stores
from shared.domain.conversations.conversation import Conversation, Speaker
from shared.domain.ids import ConversationId
from shared.domain.store.documents import Delete, Update
from tests.fakes import ScriptedModel, script_answer, script_calls
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.library import build_conversation
from tests.functions.chat.test_message_routes import ask
from tests.functions.chat.test_versions import open_chat

BOAT = ConversationId("c001")
LINES = ("The boat is of oak.", "And its mast of pine.")
LONG_LINES = (*LINES, *(f"{n}. " + "Then we spoke of the weather. " * 300 for n in range(40)))
"""They stand in parts beside their conversation."""
ANSWER = f"users/{ADA}/messages/id0001"
Change = Callable[[Stores, Conversation], Awaitable[object]]


async def cite(world: ChatFixture, *lines: str) -> Conversation:
    """Store a conversation and ask what cites it; return it with its transcript."""
    stores = world.deps().stores
    await stores.conversations.add(ADA, build_conversation(1, *lines))
    whole = await stores.conversations.get(ADA, BOAT)
    await LibraryIndex(world.vectors, None).put(ADA, whole)
    search = script_calls(("search_conversations", {"query": "oak"}))
    with ScriptedModel(search, script_answer("Of oak[1].")) as model:
        await ask(world.deps(model), {"text": "What is the boat of?"})
    return whole


async def read_again(world: ChatFixture, language: str = "en") -> dict[str, Any]:
    """Return the answer as the chat lists it."""
    with ScriptedModel() as model:
        async with open_chat(world, model) as chat:
            chat.http.headers["Accept-Language"] = language
            return (await chat.list_shown())[-1]


async def rename(stores: Stores, _: Conversation) -> None:
    await stores.conversations.edit(ADA, BOAT, title="The keel")


async def mark_speakers(stores: Stores, whole: Conversation) -> None:
    speakers = {"Ann": Speaker(name="Anna"), "Me": Speaker(is_user=True)}
    await stores.transcript_edits.assign(
        ADA, whole, lambda stored: replace(stored, speakers=speakers), now=whole.finished_at
    )


async def correct_words(stores: Stores, whole: Conversation) -> None:
    first, *others = whole.transcript_segments
    corrected = (replace(first, text="The boat is of ash."), *others)
    after = replace(whole, transcript_segments=corrected)
    await stores.transcript_edits.replace_text(ADA, whole, after, now=whole.finished_at)


async def delete(stores: Stores, whole: Conversation) -> None:
    await stores.conversations.delete(ADA, BOAT, now=whole.finished_at)


@pytest.mark.parametrize("lines", [LINES, LONG_LINES], ids=["short", "long"])
@pytest.mark.parametrize(
    ("change", "states"),
    [
        (rename, {}),
        (mark_speakers, {}),
        (correct_words, {BOAT: "changed"}),
        (delete, {BOAT: "gone"}),
    ],
)
async def test_an_old_answer_says_what_became_of_what_it_cites_e4(
    world: ChatFixture, change: Change, states: dict[str, str], lines: tuple[str, ...]
) -> None:
    whole = await cite(world, *lines)
    before = await read_again(world)

    await change(world.deps().stores, whole)

    answer = await read_again(world)
    assert [card["id"] for card in before["memories"]] == [BOAT] == answer["memories_id"]
    assert "cited" not in before["metadata"]
    assert answer["metadata"].get("cited", {}) == states


async def test_words_that_were_deleted_count_as_changed_e4(world: ChatFixture) -> None:
    await cite(world, *LINES)
    gone = {"transcript_segments": [], "deleted_hash": "x", "transcript_deleted_at": None}
    await world.documents.write(Update(conversation_path(ADA, BOAT), gone))

    assert (await read_again(world))["metadata"]["cited"] == {BOAT: "changed"}


async def test_a_merged_conversation_is_gone_from_where_it_was_cited_e4(
    world: ChatFixture,
) -> None:
    await cite(world, *LINES)
    await world.documents.write(Update(conversation_path(ADA, BOAT), {"merged_into": "whole"}))

    assert (await read_again(world))["metadata"]["cited"] == {BOAT: "gone"}


async def test_what_is_gone_shows_no_title_e4(world: ChatFixture) -> None:
    await cite(world, *LINES)
    await world.documents.write(Delete(conversation_path(ADA, BOAT)))

    [card] = (await read_again(world))["memories"]
    [german] = (await read_again(world, "de"))["memories"]

    assert card["structured"] == {"title": "Deleted or merged conversation", "emoji": ""}
    assert german["structured"]["title"] == "Gelöschtes oder zusammengeführtes Gespräch"


async def test_an_answer_that_kept_no_hash_is_read_as_it_is_e4(world: ChatFixture) -> None:
    whole = await cite(world, *LINES)
    card = {"id": BOAT, "created_at": whole.created_at, "title": "Talk 1", "emoji": ""}
    await world.documents.write(Update(ANSWER, {"cards": [card]}))
    await correct_words(world.deps().stores, whole)

    answer = await read_again(world)

    assert "cited" not in answer["metadata"]
    assert answer["memories"][0]["structured"]["title"] == "Talk 1"


async def test_an_id_that_came_with_a_file_hides_no_chat_e4(world: ChatFixture) -> None:
    whole = await cite(world, *LINES)
    card = {"created_at": whole.created_at, "title": "Talk 1", "emoji": ""}
    cards = [{**card, "id": name} for name in ("a/../b", "", *(f"x{n}" for n in range(200)))]
    await world.documents.write(Update(ANSWER, {"cards": cards}))

    cited = (await read_again(world))["metadata"]["cited"]

    assert set(cited) == {f"x{n}" for n in range(18)}
