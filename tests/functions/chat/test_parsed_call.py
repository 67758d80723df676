"""Parsed tool calls: their arguments, and the id that a call has towards third parties."""

import pytest

from functions.chat.tools.parsed_call import build_unique_id, parse_call
from shared.domain.ids import RunId
from shared.domain.models.model import ToolCall

RUN = RunId("run")
CALL = ToolCall(id="call_0", name="create_event", arguments='{"title": "Gym"}')


def test_the_id_of_a_call_names_run_position_and_arguments() -> None:
    other_arguments = ToolCall(id=CALL.id, name=CALL.name, arguments='{"title": "Lunch"}')
    ids = [
        build_unique_id(RUN, 1, CALL),
        build_unique_id(RUN, 2, CALL),
        build_unique_id(RunId("other"), 1, CALL),
        build_unique_id(RUN, 1, other_arguments),
    ]

    assert len(set(ids)) == len(ids)
    assert build_unique_id(RUN, 1, CALL) == ids[0]


def test_arguments_with_half_a_surrogate_pair_have_an_id() -> None:
    broken = ToolCall(id="call_0", name="create_event", arguments='{"title": "\ud83d"}')

    assert len(build_unique_id(RUN, 1, broken)) == 64


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 400 + ".0", "NaN", "9" * 5_000])
def test_a_number_that_json_cannot_spell_makes_no_call_s2(number: str) -> None:
    call = parse_call(ToolCall(id="call_0", name="add_event", arguments=f'{{"n": {number}}}'), "id")

    assert call.arguments is None
    assert "not valid JSON" in call.error
