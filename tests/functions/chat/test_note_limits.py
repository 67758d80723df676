"""Limits of notes: whatever a model says becomes notes within bounds, and nothing raises (M118–M120)."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.notes.build_notes import (
    NotedExchange,
    build_answer_notes,
    build_chat_notes,
    choose_title,
    trim_summary,
)
from functions.chat.notes.model_outputs import FirstNotesOutput
from functions.chat.notes.suggested_actions import build_actions
from shared.data.store.codec import dump
from shared.domain.account.profile import Profile
from shared.domain.chats.chat import MAIN_SESSION, ROOT, Message
from shared.domain.chats.chat_notes import (
    MAX_ACTIONS,
    MAX_SUMMARY_CHARS,
    MAX_TAG_CHARS,
    MAX_TAGS,
    ChatNotes,
)
from shared.domain.ids import MemoryId, MessageId
from shared.domain.memories.memory import Memory

NOW = datetime(2026, 3, 2, tzinfo=UTC)
ASKED = "I moved to Lisbon and I drink tea"
QUESTION = Message(
    id=MessageId("q"), session_id=MAIN_SESSION, text=ASKED, sender="human", created_at=NOW
)
ANSWER = Message(
    id=MessageId("a"), session_id=MAIN_SESSION, text="```\nx\n```", sender="ai", created_at=NOW
)
MEMORY = Memory(
    id=MemoryId("m1"),
    content="User drinks coffee",
    category="manual",
    created_at=NOW,
    updated_at=NOW,
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=60),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=8,
)
SUGGESTION = st.fixed_dictionaries(
    {
        "operation": st.sampled_from(["add", "update", "delete", "burn"]) | ANYTHING,
        "fact": st.text(max_size=40) | ANYTHING,
        "about": st.sampled_from(["drinks coffee"]) | ANYTHING,
        "quote": st.sampled_from(["moved to Lisbon", "I", ""]) | ANYTHING,
        "setting": st.sampled_from(["name", "language", "time_zone", "interests"]) | ANYTHING,
        "value": st.sampled_from(["de", "Europe/Lisbon", "../../etc/passwd", "\0"]) | ANYTHING,
    }
)
FIELDS = dict.fromkeys(FirstNotesOutput.model_fields, ANYTHING)
OUTPUTS = st.fixed_dictionaries(
    {},
    optional={
        **FIELDS,
        "memory_suggestions": st.lists(SUGGESTION, max_size=4) | ANYTHING,
        "setting_suggestions": st.lists(SUGGESTION, max_size=4) | ANYTHING,
    },
)


@given(OUTPUTS)
def test_every_output_becomes_notes_within_their_limits_m118(raw: dict[str, Any]) -> None:
    output = FirstNotesOutput.model_validate(raw)
    exchange = NotedExchange(question=QUESTION, answer=ANSWER, private=frozenset({"secret"}))

    actions = build_actions(output, ASKED, [MEMORY], Profile())
    notes = build_answer_notes(output, exchange, actions)
    chat = build_chat_notes(output, exchange, ChatNotes(), ROOT)

    assert len(notes.actions) <= MAX_ACTIONS
    assert {action.entry_id for action in notes.actions} <= {None, MEMORY.id}
    assert len(notes.follow_ups) <= 6
    assert len(chat.new_chats) <= 6
    assert len(chat.tags) <= MAX_TAGS
    assert all(len(tag) <= MAX_TAG_CHARS for tag in chat.tags)
    assert len(chat.summary) <= MAX_SUMMARY_CHARS
    assert 0 <= output.harmful_response <= 10
    assert choose_title(output, exchange)[0]
    assert dump(notes)
    assert dump(chat)


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("One. Two! Three? Four.", "One. Two! Three?"),
        ("一つ目。二つ目。三つ目。四つ目。", "一つ目。二つ目。三つ目。"),
        ("  One\n\n two \u202e. ", "One two ."),
        ("", ""),
    ],
)
def test_a_summary_has_at_most_three_sentences_m119(text: str, summary: str) -> None:
    assert trim_summary(text, frozenset()) == summary


def test_a_secret_of_a_question_stands_in_no_note_m118() -> None:
    secret = "hunter2!x"
    text = f"My password is {secret}, where did I use it?"
    output = FirstNotesOutput(
        title=text,
        summary=text,
        tags=[f"password {secret}", "tea"],
        follow_ups=[f"Where else is password {secret} used?", "Where else do I drink tea?"],
    )
    exchange = NotedExchange(question=replace(QUESTION, text=text), answer=ANSWER)

    notes = build_chat_notes(output, exchange, ChatNotes(), ROOT)
    titles = [choose_title(made, exchange)[0] for made in (output, None)]

    assert notes.tags == ("tea",)
    assert build_answer_notes(output, exchange).follow_ups == ("Where else do I drink tea?",)
    assert titles == ["My password is …, where did I use it?"] * 2
    assert secret not in notes.summary
