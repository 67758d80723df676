"""Figures of what was recorded: each conversation counts once, as it is now (P25)."""

from datetime import UTC, datetime, timedelta

from shared.domain.conversations.conversation import Segment
from shared.domain.conversations.figures import ConversationFigures, LibraryFigures, Span
from tests.fakes import ScriptedModel
from tests.fixtures.processing import (
    ALICE,
    START,
    ProcessingFixture,
    build_outputs,
    build_processing_fixture,
    build_script,
    build_test_conversation,
)

HOUR = Span(name="", begin=START, end=START + timedelta(hours=1))
TALKED = Segment(is_user=True, text="I'm allergic to peanuts. " * 30, start=2.0, end=92.4)
NEVER = Segment(text="Never ends.", start=9.0, end=1.7e308)


async def load(world: ProcessingFixture, span: Span = HOUR) -> LibraryFigures:
    return await world.deps.stores.figures.load(ALICE, span)


def build_figures(seconds: int, words: int, *, memories: int) -> LibraryFigures:
    recorded = ConversationFigures(seconds=seconds, words=words, insights=1)
    return LibraryFigures(conversations=recorded, memories=memories)


async def test_a_repeated_delivery_and_a_change_count_once_p25(database):
    outputs = [build_outputs(), build_outputs(facts=[])]
    with ScriptedModel(answers=build_script(*outputs)) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation(transcript_segments=(TALKED,)))
        [message] = await world.run_trigger()
        await world.deliver(message)
        await world.deliver(message)
        first = await load(world)
        longer = (TALKED, Segment(text="And to milk.", start=92.4, end=102.4))
        await world.write(build_test_conversation(transcript_segments=longer))
        await world.deliver_all()

    assert first == build_figures(90, 120, memories=1)
    assert await load(world) == build_figures(100, 123, memories=0)


async def test_what_is_deleted_or_was_at_another_time_does_not_count_p25(database):
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation(transcript_segments=(TALKED,)))
        await world.deliver_all()
        before = Span(name="", begin=datetime(1900, 1, 1, tzinfo=UTC), end=START)
        later = await load(world, before)
        await world.delete()
        await world.deliver_all()

    nothing = LibraryFigures(conversations=ConversationFigures(), memories=0)
    assert (later, await load(world)) == (nothing, nothing)


async def test_times_that_a_client_made_up_do_not_break_the_sum_p25(database):
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation(transcript_segments=(TALKED, NEVER)))
        await world.deliver_all()

    assert (await load(world)).conversations.seconds == 30 * 86_400
