"""Notes: how many model calls follow an answer, and how many tokens they read and write."""

import json
from collections.abc import Sequence
from statistics import median
from typing import Any

import anyio

from infra.bench.client import ask, request, sign_in
from infra.bench.figures import Figure
from infra.bench.processes import ServerProcess, run_keepsake, run_scripted_model
from shared.domain.models.tokens import estimate_tokens

ANSWERS = 5
PATIENCE_S = 20.0
QUESTIONS = [f"Which trains go to Lisbon on day {n} of the week?" for n in range(ANSWERS)]
NOTES = {
    "title": "Trains to Lisbon",
    "icons": ["train-front"],
    "language": "en",
    "topic_shift": "same_topic",
    "category": "travel",
    "needs_project_overview": False,
    "summary": "The user asked which trains go to Lisbon. The assistant listed some of them.",
    "tags": ["Lisbon", "Trains", "Travel"],
    "follow_up_language": "en",
    "follow_ups": [f"Compare the prices of train number {n}" for n in range(6)],
    "next_steps": [],
    "new_chat_language": "en",
    "new_chats": [f"Plan a weekend in city number {n}" for n in range(6)],
    "memory_suggestions": [],
    "setting_suggestions": [],
    "new_categories": [],
    "harmful_response": 0,
}


async def measure_notes() -> list[Figure]:
    """Ask some questions in one chat, and count the structured calls until all answers are noted."""
    with run_scripted_model() as model, run_keepsake(model) as ours:
        script = [{"schema": "notes", "text": json.dumps(NOTES), "sticky": True}]
        await request(model.port, "POST", "/script", script)
        token = await sign_in(ours.port, "noted")
        for question in QUESTIONS:
            await ask(ours.port, question, token=token)
        calls = await _wait_for_calls(model)
    inputs = [_count_input(call) for call in calls]
    return [
        Figure("model calls after an answer", len(calls) / ANSWERS, target=1),
        Figure("tokens that such a call reads", median(inputs), "tokens"),
        Figure("tokens that it writes", estimate_tokens(json.dumps(NOTES)), "tokens"),
    ]


async def _wait_for_calls(model: ServerProcess) -> Sequence[Any]:
    """Return the bodies of the structured calls once each answer has had its own."""
    with anyio.fail_after(PATIENCE_S):
        while True:
            requests = (await request(model.port, "GET", "/requests")).json
            calls = [call["body"] for call in requests if "response_format" in call["body"]]
            if len(calls) >= ANSWERS:
                return calls
            await anyio.sleep(0.2)


def _count_input(body: Any) -> int:
    messages = "".join(message["content"] for message in body["messages"])
    return estimate_tokens(messages + json.dumps(body["response_format"]))
