"""Failures of a model: what was said is stored and found, the reason is told, and a retry works."""

import json
from dataclasses import replace
from typing import Any

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
    script[EXTRACTION].insert(0, ModelFailed("refused"))
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
        "reason": "malformed_answer",
        "detail": "The language model gave no usable answer.",
        "can_retry": True,
    }
    assert rows
    assert (after.status, after.failure) == ("completed", None)


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
    script = {EXTRACTION: [ModelFailed("refused")]}
    with ScriptedModel(answers=script) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        await world.deliver_all()

        await world.delete()
        await world.deliver_all()

    assert await world.list_row_ids() == []
