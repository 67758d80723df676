"""State of a turn: what is decided cannot be changed, and what runs at once is merged in one order (C71)."""

from collections.abc import Mapping, Sequence
from dataclasses import FrozenInstanceError, fields
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.context.citations import Citations
from functions.chat.context.context import Context
from functions.chat.tools.parsed_call import parse_call
from functions.chat.tools.toolkit import ResultRenderer, Tool, Toolkit, ToolOutcome
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from shared.domain.chats.chat import Card
from shared.domain.ids import ConversationId
from shared.domain.models.model import AssistantTurn, ToolCall, ToolResult, ToolSpec
from shared.domain.models.model_usage import RoleUsage
from shared.domain.provenance import LIBRARY
from tests.fakes import FixedClock, ScriptedModel
from tests.fixtures.chat import ADA, ChatFixture

NOW = FixedClock().now()
COUNT = 4


async def test_nothing_of_a_turn_can_be_changed_c71(world: ChatFixture) -> None:
    with ScriptedModel() as model:
        turn = await prepare_turn(world.deps(model), ADA, Question("Hello"))

    for state in (turn, turn.context, turn.voices[0]):
        for field in fields(state):
            with pytest.raises(FrozenInstanceError):
                setattr(state, field.name, None)


def test_an_exchange_is_added_to_a_copy_c71() -> None:
    before = Context(question="Hello")
    results = [ToolResult(call_id="c1", text="found", source=LIBRARY)]

    after = before.add_exchange(AssistantTurn(text="Looking"), results)
    results.clear()

    assert before.exchanges == ()
    assert [result.text for result in after.exchanges[0].results] == ["found"]


def build_tools(order: Sequence[int]) -> list[Tool]:
    """Build tools that end in this order, whichever was called first; each cites a conversation."""
    ended = [anyio.Event() for _ in order]

    def build(number: int) -> Tool:
        place = order.index(number)

        async def run(_: Mapping[str, Any], __: str) -> ResultRenderer:
            if place:
                await ended[place - 1].wait()
            ended[place].set()
            return lambda citations: (
                f"{number} is document {citations.assign_number(build_card(number))}"
            )

        spec = ToolSpec(name=f"tool{number}", description="", parameters={"type": "object"})
        return Tool(spec=spec, status="", run=run, source=LIBRARY, tool_class="read")

    return [build(number) for number in range(COUNT)]


def build_card(number: int) -> Card:
    return Card(id=ConversationId(f"c{number}"), created_at=NOW, title="", emoji="")


@given(st.permutations(range(COUNT)))
def test_results_are_merged_in_the_order_of_the_calls_whichever_ends_first_c71(
    order: list[int],
) -> None:
    async def run() -> tuple[list[ToolOutcome], Citations]:
        toolkit = Toolkit(build_tools(order), timeout_s=5)
        calls = [
            parse_call(ToolCall(id=f"call{n}", name=f"tool{n}", arguments="{}"), f"run-{n}")
            for n in range(COUNT)
        ]
        return await toolkit.run(calls), toolkit.citations

    outcomes, citations = anyio.run(run)

    assert [outcome.text for outcome in outcomes] == [
        f"{n} is document {n + 1}" for n in range(COUNT)
    ]
    assert [
        source.id for source in citations.numbering.sources.values() if isinstance(source, Card)
    ] == [f"c{n}" for n in range(COUNT)]


USAGES = st.builds(
    RoleUsage,
    input_tokens=st.integers(0, 9),
    cached_tokens=st.integers(0, 9),
    output_tokens=st.integers(0, 9),
)


@given(
    st.lists(USAGES, max_size=6).flatmap(
        lambda each: st.tuples(st.just(each), st.permutations(each))
    )
)
def test_usage_is_the_same_sum_in_any_order_c71(
    usages: tuple[list[RoleUsage], list[RoleUsage]],
) -> None:
    first, second = (sum(listed, RoleUsage()) for listed in usages)

    assert first == second
