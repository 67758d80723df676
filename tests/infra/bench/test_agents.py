"""What the bench asks of every agent loop, and how it counts."""

from typing import Any

import httpx
import pytest

from infra.bench.agents import ADAPTER, CYCLES, OURS, PLAIN, TOKENS, WITH_TOOLS, a_cycle
from tests.servers.openai import scripted_openai


def answer(url: str, *messages: dict[str, Any]) -> dict[str, Any]:
    body = {"model": "scripted", "messages": messages}
    choices = httpx.post(f"{url}/chat/completions", json=body).json()["choices"]
    message: dict[str, Any] = choices[0]["message"]
    return message


@pytest.mark.parametrize(("asked", "cycles"), [(PLAIN, 0), (WITH_TOOLS, CYCLES)])
def test_a_question_says_how_often_a_tool_is_called_before_the_answer(
    asked: str, cycles: int
) -> None:
    conversation: list[dict[str, Any]] = [{"role": "user", "content": asked}]
    called = []

    with scripted_openai() as server:
        while calls := (said := answer(server.url, *conversation))["tool_calls"]:
            called += [call["function"] for call in calls]
            result = {"role": "tool", "tool_call_id": calls[0]["id"], "content": "0"}
            conversation += [said, result]

    assert len(said["content"].split()) == TOKENS
    assert called == [{"name": "lookup", "arguments": f'{{"query": "{n}"}}'} for n in range(cycles)]


def test_a_tool_cycle_is_what_it_adds_beyond_what_it_adds_to_the_other() -> None:
    costs = {
        (OURS, PLAIN): (10.0, 5.0),
        (OURS, WITH_TOOLS): (10.0 + CYCLES * 7, 5.0 + CYCLES * 3),
        (ADAPTER, PLAIN): (8.0, 4.0),
        (ADAPTER, WITH_TOOLS): (8.0 + CYCLES * 6, 4.0 + CYCLES * 1),
    }

    assert a_cycle(costs, OURS, beside=ADAPTER) == (1.0, 2.0)
