"""Provenance: memories, tasks, titles and summaries keep what had been read for them, and models are told (G3)."""

from datetime import UTC, datetime
from typing import Any

import pytest

from functions.chat.api.session_schemas import to_session_out
from functions.chat.context.known import Known, build_known_text
from functions.chat.context.numbering import Numbering
from functions.chat.sessions import chat_sessions
from functions.chat.turn.after_turn import after_turn
from functions.chat.turn.prepared_turn import UTC as ZONE
from shared.data.store.codec import dump, load
from shared.domain.chats.chat import MAIN_SESSION
from shared.domain.ids import ActionItemId, MemoryId
from shared.domain.memories.memory import Memory
from shared.domain.models.model import SAFE_WINDOW_TOKENS, ModelFacts
from shared.domain.provenance import TextKinds, describe_origin, join_kinds
from shared.domain.store.documents import Document
from shared.domain.tasks.action_item import ActionItem
from tests.fakes import ScriptedModel
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.chats import (
    GONE_ANSWER,
    build_after_turn_deps,
    load_session,
    number_texts,
    script_summaries,
    store_messages,
)
from tests.functions.chat.test_notes import OUTPUT, note

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def build_memory(kinds: TextKinds | None) -> Memory:
    return Memory(
        id=MemoryId("m"),
        content="User's lawyer is Eve",
        category="system",
        created_at=NOW,
        updated_at=NOW,
        read_kinds=kinds,
    )


@pytest.mark.parametrize("kinds", [None, (), ("file", "mail")])
def test_what_is_stored_keeps_it_and_an_old_record_is_unknown_g3(kinds: TextKinds | None) -> None:
    fields = dump(build_memory(kinds))
    old = {name: field for name, field in fields.items() if name != "read_kinds"}

    def load_memory(stored: dict[str, Any]) -> Memory:
        return load(Memory, Document(path="users/ada/memories/m", fields=stored, version="1"))

    assert load_memory(fields).read_kinds == kinds
    assert load_memory(old).read_kinds is None


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        (("mail", "file"), "User's lawyer is Eve (since Monday, 2 March 2026, from mail, files)"),
        ((), "User's lawyer is Eve (since Monday, 2 March 2026)"),
        (None, "User's lawyer is Eve (since Monday, 2 March 2026)"),
    ],
)
def test_a_model_is_told_from_what_a_fact_may_come_g3(kinds: TextKinds | None, told: str) -> None:
    known = Known(facts=[build_memory(kinds)], reason="about the library")

    text = build_known_text(known, Numbering(), ZONE, ModelFacts(window_tokens=32_000)).text

    assert told in text


def test_kinds_are_joined_once_each_and_in_one_order_g3() -> None:
    assert join_kinds(("mail",), ("recording", "mail"), ()) == ("recording", "mail")
    assert (describe_origin(()), describe_origin(None)) == ("", "")


async def test_a_title_and_a_summary_keep_what_their_answer_had_read_g3(world: ChatFixture) -> None:
    _, answer = await store_messages(world, "What did Eve write?", "She wants 900 euros.")
    await world.deps().stores.messages.change(ADA, answer.id, read_kinds=["mail"])

    await note(world, answer, OUTPUT)
    noted = to_session_out(await load_session(world))
    await chat_sessions.change(world.deps(), ADA, MAIN_SESSION, title="Eve's mail", starred=None)

    assert (noted.title_kinds, noted.summary_kinds) == (("mail",), ("mail",))
    assert (await load_session(world)).title_kinds == ()


async def test_what_replaces_older_messages_keeps_what_was_read_in_them_g3(
    world: ChatFixture,
) -> None:
    messages = await store_messages(world, *number_texts(31))
    await world.deps().stores.messages.change(ADA, messages[3].id, read_kinds=["app"])
    with ScriptedModel(answers=script_summaries("Numbers up to 19.")) as model:
        await after_turn(
            build_after_turn_deps(world, model), ADA, MAIN_SESSION, GONE_ANSWER, SAFE_WINDOW_TOKENS
        )

    session = await load_session(world)
    assert (session.summary_kinds, session.summarised_kinds) == (("app",), ("app",))


def test_other_words_of_the_owner_for_a_task_are_their_own_g3() -> None:
    task = ActionItem(
        id=ActionItemId("t"),
        description="Pay Eve",
        created_at=NOW,
        updated_at=NOW,
        read_kinds=("mail",),
    )

    assert task.change({"completed": True}, NOW).read_kinds == ("mail",)
    assert task.change({"description": "Call Ann"}, NOW).read_kinds == ()
