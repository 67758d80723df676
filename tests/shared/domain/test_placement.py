"""Placement of events: blocks of reasoning, tools and text (X32)."""

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from functions.chat.runs.journal import merge_text
from shared.domain.chats.placement import Placement, PlacementCounter
from shared.domain.chats.run import (
    AnswerText,
    AnswerWithdrawn,
    ReasoningText,
    RunEvent,
    Stage,
    ToolEnded,
    ToolStarted,
)

THINKING = Stage("thinking")


def place_all(events: Iterable[RunEvent], voice: int = 0) -> list[Placement]:
    counter = PlacementCounter(voice)
    return [counter.place(event) for event in events]


def list_indexes(events: Iterable[RunEvent]) -> list[tuple[int, int]]:
    return [(place.turn_index, place.tab_index) for place in place_all(events)]


def start(call_id: str) -> ToolStarted:
    return ToolStarted(call_id=call_id, tool="search", arguments="{}")


def end(call_id: str) -> ToolEnded:
    return ToolEnded(call_id=call_id, output="Nothing.")


CYCLES = st.lists(
    st.tuples(
        st.lists(st.just(ReasoningText("Hm. ")), max_size=3),
        st.lists(st.just(AnswerText("Yes. ")), max_size=3),
        st.integers(0, 3),
    ),
    max_size=5,
)


def build_run(cycles: Iterable[tuple[list[RunEvent], list[RunEvent], int]]) -> list[RunEvent]:
    """Build the events of model calls that reason, speak, and then request so many tools."""
    events: list[RunEvent] = []
    for number, (reasoning, text, tools) in enumerate(cycles):
        call_ids = [f"{number}-{tool}" for tool in range(tools)]
        events += [THINKING, *reasoning, *text, *map(start, call_ids)]
        events += map(end, reversed(call_ids))
    return events


def test_reasoning_and_a_tool_are_two_blocks_x32() -> None:
    places = list_indexes([THINKING, ReasoningText("Hm."), start("a"), end("a"), THINKING])

    assert places == [(0, 0), (0, 0), (1, 0), (1, 0), (1, 0)]


def test_parallel_tools_share_a_block_and_differ_in_their_tab_x32() -> None:
    places = list_indexes([THINKING, start("a"), start("b"), end("b"), end("a")])

    assert places == [(0, 0), (0, 0), (0, 1), (0, 1), (0, 0)]


def test_the_tools_of_two_model_calls_are_two_blocks_x32() -> None:
    places = list_indexes([THINKING, start("a"), end("a"), THINKING, start("b"), end("b")])

    assert places[1::3] == [(0, 0), (1, 0)]


def test_what_follows_withdrawn_text_is_another_block_x32() -> None:
    places = list_indexes([THINKING, AnswerText("Hm."), AnswerWithdrawn(3), AnswerText("Yes.")])

    assert places[1:] == [(0, 0), (0, 0), (1, 0)]


def test_each_voice_counts_its_own_blocks() -> None:
    assert place_all([AnswerText("Yes.")], voice=2) == [Placement(voice=2)]


@given(CYCLES)
def test_every_block_comes_after_the_one_before(
    cycles: list[tuple[list[RunEvent], list[RunEvent], int]],
) -> None:
    events = build_run(cycles)
    begun = [
        place.turn_index
        for event, place in zip(events, place_all(events), strict=True)
        if isinstance(event, ReasoningText | AnswerText | ToolStarted)
    ]

    assert begun == sorted(begun)
    assert set(begun) == set(range(len(set(begun))))


@given(CYCLES)
def test_every_tool_ends_where_it_started(
    cycles: list[tuple[list[RunEvent], list[RunEvent], int]],
) -> None:
    events = build_run(cycles)
    places = list(zip(events, place_all(events), strict=True))
    starts = {event.call_id: place for event, place in places if isinstance(event, ToolStarted)}
    ends = {event.call_id: place for event, place in places if isinstance(event, ToolEnded)}

    assert starts == ends
    assert len(set(starts.values())) == len(starts)


@given(CYCLES)
def test_text_has_the_same_place_however_it_is_split(
    cycles: list[tuple[list[RunEvent], list[RunEvent], int]],
) -> None:
    events = build_run(cycles)
    merged = list(merge_text(events, first=1))
    places = dict(enumerate(place_all(events), 1))

    assert place_all(item.event for item in merged) == [places[item.seq] for item in merged]


def test_a_call_whose_arguments_are_written_anew_keeps_its_place_x32() -> None:
    events: list[RunEvent] = [THINKING]
    events += [start("a"), start("b"), start("a"), end("b"), end("a"), start("c")]

    assert list_indexes(events) == [(0, 0), (0, 0), (0, 1), (0, 0), (0, 1), (0, 0), (0, 2)]
