"""Requests to Chat Completions: what they ask the provider's cache to keep (D5)."""

from typing import Any

import pytest

from shared.domain.models.model import (
    AssistantTurn,
    ModelMessage,
    Picture,
    Prompt,
    SystemText,
    ToolCall,
    ToolResult,
    UserText,
)
from shared.models.requests import ModelRequest, build_body, build_prompt_messages

CALL = ToolCall(id="call_0", name="look", arguments="{}")
TURN: list[ModelMessage] = [
    SystemText(text="Rules"),
    SystemText(text="The owner's"),
    UserText(text="Earlier"),
    AssistantTurn(text="Answer"),
    UserText(text="Now?"),
    AssistantTurn(text="", tool_calls=(CALL,)),
    ToolResult(call_id="call_0", text="Found"),
    UserText(text="Cite.", is_fleeting=True),
]


def list_marked(body: dict[str, Any]) -> list[int]:
    return [
        n
        for n, message in enumerate(body["messages"])
        if isinstance(message["content"], list)
        and message["content"][-1].get("prompt_cache_breakpoint") == {"mode": "explicit"}
    ]


@pytest.mark.parametrize("model", ["gpt-6-sol", "gpt-6-luna", "gpt-5.6-terra"])
def test_instructions_and_all_that_stands_are_kept_and_nothing_else_d5(model: str) -> None:
    body = build_body(ModelRequest(model=model, messages=TURN, marks_prefixes=True))

    assert body["prompt_cache_options"] == {"mode": "explicit"}
    assert list_marked(body) == [1, 2, 4, 6]


def test_a_result_without_a_word_takes_no_mark_d5() -> None:
    result = ToolResult(call_id="call_0", text="")

    body = build_body(
        ModelRequest(model="gpt-6-sol", messages=[*TURN[:6], result], marks_prefixes=True)
    )

    assert list_marked(body) == [1, 2, 4]


def test_a_mark_changes_nothing_that_is_read_d5() -> None:
    plain = build_body(ModelRequest(model="gpt-6-sol", messages=TURN))["messages"]
    marked = build_body(ModelRequest(model="gpt-6-sol", messages=TURN, marks_prefixes=True))[
        "messages"
    ]

    texts = [
        "".join(part["text"] for part in message["content"])
        if isinstance(message["content"], list)
        else message["content"]
        for message in marked
    ]
    assert texts == [message["content"] for message in plain]


def test_a_picture_ends_the_message_that_it_came_with_d5() -> None:
    picture = Picture(media_type="image/png", content=b"x", tokens=85)

    body = build_body(
        ModelRequest(
            model="gpt-6-sol",
            messages=[UserText(text="What is it?", pictures=(picture,))],
            marks_prefixes=True,
        )
    )

    assert list_marked(body) == [0]
    assert [part["type"] for part in body["messages"][0]["content"]] == ["text", "image_url"]


def test_only_the_instructions_of_a_structured_question_are_kept_d5() -> None:
    prompt = Prompt(name="items", version="1", instructions="List.", data={"said": "words"})

    body = build_body(
        ModelRequest(
            model="gpt-6-luna", messages=build_prompt_messages(prompt), marks_prefixes=True
        )
    )

    assert list_marked(body) == [0]


@pytest.mark.parametrize(
    ("model", "marks_prefixes"), [("gpt-5.1", True), ("qwen3", True), ("gpt-6-sol", False)]
)
def test_other_models_and_servers_are_sent_no_marks_d5(model: str, *, marks_prefixes: bool) -> None:
    body = build_body(ModelRequest(model=model, messages=TURN, marks_prefixes=marks_prefixes))

    assert "prompt_cache_options" not in body
    assert list_marked(body) == []
