"""Failures of a model: what was said is stored and found, the reason is told, and a retry works."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from shared.domain.conversations.conversation import Conversation
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.models.model import ModelFacts
from shared.library.conversation_schemas import ConversationOut
from tests.fakes import ScriptedModel
from tests.fixtures.processing import (
    ALICE,
    EXTRACTION,
    TALK,
    ProcessingFixture,
    build_memory_output,
    build_outputs,
    build_processing_fixture,
    build_script,
    build_structure_output,
    build_test_conversation,
)
from tests.fixtures.storage import MemoryDatabase

PARTS = ("structure", "memories")
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*build_structure_output(), *PARTS, "x"]), inner)
    ),
    max_leaves=12,
)
STRUCTURES = st.builds(lambda field, junk: {**build_structure_output(), field: junk}, st.sampled_from([*build_structure_output()]), JUNK)  # fmt: skip
SHAPED = st.builds(lambda structure, junk: {"structure": structure, "memories": junk}, STRUCTURES, JUNK | st.just([build_memory_output()]))  # fmt: skip
ERRORS = st.sampled_from([ModelFailed("refused"), Unavailable("down")])


class JunkModel:
    """Answers with whatever it was given, as an adapter reads it: JSON that fits, or ModelFailed."""

    def __init__(self, replies: list[Any]) -> None:
        self._replies = replies

    def name(self, role: str) -> str:
        return "junk"

    def describe(self, role: str) -> ModelFacts:
        return ModelFacts()

    async def complete_structured(self, role: str, prompt: Any, schema: Any) -> Any:
        reply = self._replies.pop(0) if self._replies else ModelFailed("refused")
        if isinstance(reply, Exception):
            raise reply
        try:
            return schema.model_validate_json(json.dumps(reply))
        except ValidationError as error:
            raise ModelFailed("the answer does not fit") from error

    def stream(self, *_: Any) -> Any:
        raise NotImplementedError


async def deliver(world: ProcessingFixture, conversation: Conversation) -> None:
    await world.write(conversation)
    (message,) = await world.run_trigger()
    try:
        await world.deliver(message)
    except Unavailable:
        world.clock.advance(seconds=1)


@given(replies=st.lists(JUNK | SHAPED | ERRORS, max_size=3))
async def test_whatever_a_model_returns_what_was_said_is_found(replies: list[Any]) -> None:
    database = MemoryDatabase()
    world = build_processing_fixture(database, JunkModel(replies))

    await deliver(world, build_test_conversation())

    conversation = await world.load_conversation()
    assert await world.search_ids("peanuts") == [TALK]
    assert conversation.status in ("completed", "failed", "processing")
    assert (conversation.failure_report is not None) == (conversation.status == "failed")
    database.close()


@given(reply=JUNK.filter(lambda junk: junk is not True) | ERRORS)
async def test_a_malformed_word_on_discarding_loses_nothing(reply: Any) -> None:
    database = MemoryDatabase()
    world = build_processing_fixture(database, JunkModel([reply]))
    talk = build_test_conversation()

    await deliver(world, replace(talk, transcript_segments=talk.transcript_segments[:1]))

    assert await world.search_ids("peanuts") == [TALK]
    database.close()


async def test_a_retry_after_a_failure_completes_and_forgets_the_reason_u9(database):
    script = build_script(build_outputs())
    script[EXTRACTION].insert(0, ModelFailed("refused", reason="other"))
    with ScriptedModel(answers=script) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        await world.deliver_all()
        failed = ConversationOut.of(await world.load_conversation())
        rows = await world.list_row_ids()

        await world.deps.stores.conversations.reopen(ALICE, TALK, now=world.clock.now())
        await world.deliver({"uid": ALICE, "conversation_id": TALK})

    after = ConversationOut.of(await world.load_conversation())
    assert failed.model_dump()["failure"] == {
        "reason": "other",
        "detail": "The language model gave no usable answer.",
        "can_retry": True,
    }
    assert rows
    assert (after.status, after.failure) == ("completed", None)


NULLS: dict[str, Any] = dict.fromkeys(build_structure_output())


@pytest.mark.parametrize(
    "replies",
    [
        [ModelFailed("no JSON")],
        [{"structure": NULLS, "memories": None}] * 2,
        [{"structure": {}, "memories": [{"content": None}]}] * 2,
        [NULLS] * 2,
    ],
    ids=["nonsense", "nulls", "nothing in it", "bare nulls"],
)
async def test_nonsense_of_a_model_leaves_a_title_and_an_overview_in_the_words_that_were_said_u9(
    database, replies: list[Any]
):
    world = build_processing_fixture(database, JunkModel(replies))
    talk = build_test_conversation()

    await deliver(world, talk)

    stored = await world.load_conversation()
    spoken = " ".join(segment.text for segment in talk.transcript_segments)
    assert stored.status == "completed"
    assert stored.structured.title.rstrip(".!?").lower() in spoken.lower()
    assert stored.structured.title
    assert stored.structured.overview
    assert stored.structured.action_items == ()
    assert stored.dropped_memories in ({"unread": 1}, {"not_meant": 1})
    assert await world.search_ids("peanuts") == [TALK]


async def test_what_is_whole_of_an_answer_is_kept_u9(database):
    structure = {**build_structure_output(), "title": None, "overview": ["They", "met."]}
    replies = [{"structure": structure, "memories": []}] * 2
    world = build_processing_fixture(database, JunkModel(replies))

    await deliver(world, build_test_conversation())

    stored = (await world.load_conversation()).structured
    assert stored.title
    assert stored.overview
    assert [item.description for item in stored.action_items] == [
        item["description"] for item in structure["action_items"]
    ]


async def test_nonsense_takes_nothing_away_that_an_earlier_answer_brought_u9(database):
    world = build_processing_fixture(database, JunkModel([build_outputs()]))
    await deliver(world, build_test_conversation())
    before = await world.load_conversation()
    await world.deps.stores.conversations.reopen(ALICE, TALK, now=world.clock.now())

    await world.deliver({"uid": ALICE, "conversation_id": TALK})

    after = await world.load_conversation()
    assert (after.status, after.structured) == ("failed", before.structured)


async def test_in_an_outage_it_is_found_and_goes_on_by_itself(database):
    script = build_script(build_outputs())
    script[EXTRACTION].insert(0, Unavailable("down"))
    with ScriptedModel(answers=script) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        (message,) = await world.run_trigger()
        await world.deliver(message)
        found_meanwhile = await world.search_ids("peanuts")

        await world.deliver(message)

    assert found_meanwhile == [TALK]
    assert (await world.load_conversation()).status == "completed"


async def test_a_failed_conversation_leaves_no_rows_when_it_is_deleted(database):
    script = {EXTRACTION: [ModelFailed("refused", reason="other")]}
    with ScriptedModel(answers=script) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        await world.deliver_all()

        await world.delete()
        await world.deliver_all()

    assert await world.list_row_ids() == []
