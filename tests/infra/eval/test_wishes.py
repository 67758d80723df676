"""Honest wishes: what the measure plays, and how it goes in each state (T11)."""

import json
from collections import Counter
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from infra.eval.injection import evaluate_wishes
from infra.eval.metrics import compute_share_interval
from infra.eval.real_apps import load_real_wishes
from infra.eval.wishes import State, Wish, WishedCall, build_app, load_wishes, play_wish
from shared.arguments import parse_arguments
from shared.domain.apps.app import ChatTool
from shared.domain.errors import ToolRefused
from shared.integrations import INTEGRATIONS, load_integration
from shared.security.tool_class import classify_tool
from tests.fixtures.chat import open_chat_fixture

WISHES = load_wishes()
NAMED_GRAVER = ("rate_book", "translate_text")
"""Tools whose names hold a verb of the table as a noun: by that they ask each time."""
SERVICE_TOOLS = {tool.name: tool for name in INTEGRATIONS for tool in load_integration(name).tools}
GYM = build_app(
    "Gym",
    [
        ChatTool(
            name=name,
            description=name,
            endpoint="https://gym.example",
            parameters={"type": "object", "properties": {"text": {"type": "string"}}},
        )
        for name in ("find_course", "log_visit", "cancel_course")
    ],
)


def test_wishes_are_of_many_languages_tools_and_developers_t11() -> None:
    counts = Counter(wish.language for wish in WISHES)
    developers = {wish.app.owner: wish.app.id for wish in WISHES if wish.app is not None}

    assert len(counts) == 12
    assert min(counts.values()) >= 20
    assert len({wish.message for wish in WISHES}) == len(WISHES)
    assert len({wish.calls[-1].tool for wish in WISHES}) >= 60
    assert len(developers) == len(set(developers.values())) >= 20


@pytest.mark.parametrize("wish", WISHES, ids=lambda wish: f"{wish.language}-{wish.calls[-1].tool}")
def test_the_arguments_of_every_wish_are_valid_t11(wish: Wish) -> None:
    assert wish.calls
    assert [call for call in wish.calls if not are_arguments_valid(wish, call)] == []


def are_arguments_valid(wish: Wish, call: WishedCall) -> bool:
    if wish.app is not None:
        [tool] = [tool for tool in wish.app.chat_tools if tool.name == call.tool]
        schema = {**tool.parameters, "additionalProperties": False}
        return Draft202012Validator(schema).is_valid(call.arguments)
    try:
        parse_arguments(call.tool, SERVICE_TOOLS[call.tool].arguments_type, call.arguments)
    except ToolRefused:
        return False
    return True


@pytest.mark.parametrize(
    ("tool", "states_that_ask"),
    [
        ("find_course", []),
        ("log_visit", ["first use", "library read"]),
        ("cancel_course", ["first use", "library read", "always"]),
    ],
)
async def test_the_class_of_a_tool_and_a_grant_decide_whether_a_wish_asks_t11(
    tmp_path: Path, tool: str, states_that_ask: list[str]
) -> None:
    wish = build_wish(tool, "yoga")
    world = open_chat_fixture(tmp_path)
    states: list[State] = ["first use", "library read", "always"]

    played = {state: await play_wish(world, wish, state) for state in states}

    assert [state for state, call in played.items() if call.reason] == states_that_ask


def test_a_share_has_a_wilson_interval() -> None:
    low, high = compute_share_interval(1, 10)

    assert (round(low, 4), round(high, 4)) == (0.0179, 0.4042)
    assert compute_share_interval(0, 0) == (0.0, 1.0)


async def test_sentences_of_real_apps_are_played_with_the_tools_of_their_manifests_t11(
    tmp_path: Path,
) -> None:
    manifests, sentences = tmp_path / "apps.json", tmp_path / "sentences.json"
    tool = {"name": "list_rooms", "description": "Rooms", "endpoint": "/rooms", "method": "POST"}
    manifests.write_text(json.dumps({"hotel": {"tools": [tool]}}), encoding="utf-8")
    sentence = {"app": "hotel", "tool": "list_rooms", "class": "read", "arguments": {}}
    sentences.write_text(json.dumps([{**sentence, "say": "Which rooms?"}]), encoding="utf-8")

    [wish] = load_real_wishes(manifests, sentences)
    played = await play_wish(open_chat_fixture(tmp_path), wish, "first use")

    assert (wish.message, played.tool_class, played.reason) == ("Which rooms?", "read", None)


async def test_reads_that_ask_are_shown_with_their_sentence_t11() -> None:
    secret = build_wish("find_course", "Nina's new door code is 4471")

    figures = await evaluate_wishes("wishes", [secret])

    assert not figures.is_ok
    assert any("Book me yoga on Friday" in row and "4471" in row for row in figures.rows)


def build_wish(tool: str, text: str) -> Wish:
    tool_class = classify_tool(tool, read_only=False, destructive=False, method="POST")
    call = WishedCall(tool=tool, tool_class=tool_class, arguments={"text": text})
    return Wish(language="en", message="Book me yoga on Friday", calls=[call], app=GYM)


async def test_a_tool_whose_name_says_sensitive_asks_each_time_and_misses_no_bound() -> None:
    wishes = [wish for wish in WISHES if wish.calls[-1].tool in NAMED_GRAVER]

    figures = await evaluate_wishes("graver names", wishes)

    assert {wish.calls[-1].tool for wish in wishes} == set(NAMED_GRAVER)
    assert figures.is_ok
    assert figures.rows[-2:] == [
        "  a person calls rate_book write, its name and declaration sensitive",
        "  a person calls translate_text read, its name and declaration sensitive",
    ]
