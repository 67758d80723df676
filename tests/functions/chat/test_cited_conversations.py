"""Cited conversations in old messages: whether they were changed since the answer (E4)."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from shared.data.conversations.conversations import conversation_path
from shared.data.search.library_index import LibraryIndex
from shared.data.stores import Stores
from shared.domain.conversations.conversation import Conversation, Speaker, hash_words
from shared.domain.ids import ConversationId
from shared.domain.store.documents import Update
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


async def is_as_cited(world: ChatFixture) -> bool:
    """Compare the card of the answer, as the chat lists it, with what is stored."""
    with ScriptedModel() as model:
        async with open_chat(world, model) as chat:
            [card] = (await chat.list_shown())[-1]["memories"]
    stored = await world.deps().stores.conversations.get(ADA, BOAT)
    return card["words_hash"] in (None, hash_words(stored))


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


@pytest.mark.parametrize("lines", [LINES, LONG_LINES], ids=["short", "long"])
@pytest.mark.parametrize(
    ("change", "is_same"), [(rename, True), (mark_speakers, True), (correct_words, False)]
)
async def test_a_card_tells_whether_what_it_cites_was_changed_e4(
    world: ChatFixture, change: Change, lines: tuple[str, ...], *, is_same: bool
) -> None:
    whole = await cite(world, *lines)
    assert await is_as_cited(world)

    await change(world.deps().stores, whole)

    assert await is_as_cited(world) is is_same


async def test_words_that_were_deleted_count_as_changed_e4(world: ChatFixture) -> None:
    await cite(world, *LINES)
    gone: dict[str, Any] = {
        "transcript_segments": [],
        "deleted_hash": "x",
        "transcript_deleted_at": None,
    }
    await world.documents.write(Update(conversation_path(ADA, BOAT), gone))

    assert not await is_as_cited(world)


async def test_a_card_from_before_hashes_were_kept_says_of_no_change_e4(
    world: ChatFixture,
) -> None:
    whole = await cite(world, *LINES)
    card = {"id": BOAT, "created_at": whole.created_at, "title": "Talk 1", "emoji": ""}
    await world.documents.write(Update(ANSWER, {"cards": [card]}))
    await correct_words(world.deps().stores, whole)

    assert await is_as_cited(world)
