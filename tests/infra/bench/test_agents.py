"""Agent bench: the question for every agent loop, and the counts."""

from typing import Any

import httpx
import pytest

from infra.bench.agents import ADAPTER, CYCLES, OURS, PLAIN, TOKENS, WITH_TOOLS, compute_cycle_cost
from tests.servers.openai import scripted_openai


def request_answer(url: str, *messages: dict[str, Any]) -> dict[str, Any]:
    body = {"model": "scripted", "messages": messages}
    choices = httpx.post(f"{url}/chat/completions", json=body).json()["choices"]
    message: dict[str, Any] = choices[0]["message"]
    return message


@pytest.mark.parametrize(("asked", "cycles"), [(PLAIN, 0), (WITH_TOOLS, CYCLES)])
def test_a_question_says_how_often_a_tool_is_called_before_the_answer(
    asked: str, cycles: int
) -> None:
    conversation: list[dict[str, Any]] = [{"role": "user", "content": asked}]
    called_functions = []

    with scripted_openai() as server:
        while calls := (message := request_answer(server.url, *conversation))["tool_calls"]:
            called_functions += [call["function"] for call in calls]
            result = {"role": "tool", "tool_call_id": calls[0]["id"], "content": "0"}
            conversation += [message, result]

    assert len(message["content"].split()) == TOKENS
    assert called_functions == [
        {"name": "lookup", "arguments": f'{{"query": "{n}"}}'} for n in range(cycles)
    ]


def test_the_cost_of_a_tool_cycle_is_measured_against_another_loop() -> None:
    costs = {
        (OURS, PLAIN): (10.0, 5.0),
        (OURS, WITH_TOOLS): (10.0 + CYCLES * 7, 5.0 + CYCLES * 3),
        (ADAPTER, PLAIN): (8.0, 4.0),
        (ADAPTER, WITH_TOOLS): (8.0 + CYCLES * 6, 4.0 + CYCLES * 1),
    }

    assert compute_cycle_cost(costs, OURS, baseline=ADAPTER) == (1.0, 2.0)
