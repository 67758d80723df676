"""Messages on the wire: whatever was said, they have the order and shape that a template takes."""

from collections.abc import Sequence
from itertools import pairwise
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.models.model import (
    AssistantTurn,
    ModelMessage,
    Picture,
    SystemText,
    ToolCall,
    ToolResult,
    UserText,
)
from shared.domain.provenance import Source
from shared.models.known_models import Step
from shared.models.messages import build_messages, neutralise

SECRET = "Ann-said-this"
MAIL = Source(kind="service", id="gmail", name="Gmail")
PICTURE = Picture(content=SECRET.encode(), media_type="image/webp", tokens=9)
WORDS = st.sampled_from(["", " ", SECRET])


@st.composite
def draw_exchange(draw: st.DrawFn) -> list[ModelMessage]:
    """Draw a question with its calls and answer, any of which may be missing or empty."""
    pictures = draw(st.sampled_from([(), (PICTURE,)]))
    question = UserText(text=draw(WORDS), pictures=pictures)
    count = draw(st.integers(0, 3))
    ids = [f"functions.look:{draw(st.integers(0, 10**6))}-{n}" for n in range(count)]
    calls = tuple(ToolCall(id=id_, name="look", arguments=f'"{SECRET}"') for id_ in ids)
    back = {"reasoning_content": SECRET} if draw(st.booleans()) else {}
    turn = AssistantTurn(text=draw(WORDS), tool_calls=calls, given_back=back)
    results = [ToolResult(call_id=id_, text=SECRET, source=MAIL) for id_ in ids]
    answer = AssistantTurn(text=draw(WORDS))
    return [question, turn, *results, *([answer] if draw(st.booleans()) else [])]


@st.composite
def draw_messages(draw: st.DrawFn) -> list[ModelMessage]:
    systems = [SystemText(text=draw(WORDS)) for _ in range(draw(st.integers(0, 3)))]
    greeting = [AssistantTurn(text="Hi!")] if draw(st.booleans()) else []
    exchanges = [m for e in draw(st.lists(draw_exchange(), max_size=3)) for m in e]
    reminder = UserText(text="<reminder>", is_fleeting=True)
    return [*systems, *greeting, *exchanges, *([reminder] if draw(st.booleans()) else [])]


STEPS = st.sets(st.sampled_from(get_args(Step)))


@given(draw_messages(), STEPS)
def test_every_call_has_its_result_and_every_result_its_call_n1(
    messages: list[ModelMessage], steps: set[Step]
) -> None:
    sent = build_messages(messages, steps)

    called = [call["id"] for message in sent for call in message.get("tool_calls", ())]
    results = [message["tool_call_id"] for message in sent if message["role"] == "tool"]
    assert sorted(called) == sorted(results)
    if "calls_as_text" in steps or "no_tools" in steps:
        assert called == []
    if "single_calls" in steps:
        assert all(len(message.get("tool_calls", ())) <= 1 for message in sent)
    if "short_ids" in steps:
        assert all(len(id_) == 9 and id_.isalnum() for id_ in called)


@given(draw_messages(), STEPS)
def test_roles_alternate_where_a_template_wants_it_n1(
    messages: list[ModelMessage], steps: set[Step]
) -> None:
    sent = build_messages(messages, {*steps, "alternating", "one_system_text", "calls_as_text"})

    roles = [message["role"] for message in sent if message["role"] != "system"]
    assert all(first != second for first, second in pairwise(roles))
    assert roles[:1] in ([], ["user"])
    assert [message["role"] for message in sent].count("system") <= 1


@given(draw_messages(), STEPS)
def test_no_user_speaks_right_after_a_tool_where_a_template_forbids_it_n1(
    messages: list[ModelMessage], steps: set[Step]
) -> None:
    sent = build_messages(messages, {*steps, "reminder_in_result"} - {"no_tools", "calls_as_text"})

    assert ("tool", "user") not in pairwise(message["role"] for message in sent)


@given(draw_messages(), STEPS)
def test_text_alone_is_sent_where_nothing_else_is_taken_n1(
    messages: list[ModelMessage], steps: set[Step]
) -> None:
    sent = build_messages(messages, {*steps, "text_content", "no_system_role"})

    assert all(isinstance(message["content"], str) for message in sent)
    assert all(message["role"] != "system" for message in sent)


@given(draw_messages())
def test_what_somebody_said_or_showed_is_in_no_probe_n1(messages: list[ModelMessage]) -> None:
    neutral = neutralise(messages)

    assert SECRET not in str(neutral)
    assert _list_shapes(neutral) == _list_shapes(messages)


def _list_shapes(messages: Sequence[ModelMessage]) -> list[tuple[str, int, bool]]:
    return [
        (
            type(message).__name__,
            len(message.tool_calls) if isinstance(message, AssistantTurn) else 0,
            isinstance(message, AssistantTurn) and bool(message.text.strip()),
        )
        for message in messages
    ]
