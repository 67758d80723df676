"""P9, M102, M103: what one turn offers of the installed apps' tools, and how the others are found."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.accepting import prepare
from functions.chat.context.citations import Citations
from functions.chat.tools.apps import (
    CHOSEN,
    FEW,
    FIND,
    FOUND,
    MAX_TOKENS,
    SEARCHES,
    app_tools,
    model_name,
)
from functions.chat.tools.toolkit import Found, Tool, Toolkit
from shared import telemetry
from shared.data.codec import dump
from shared.domain.app import App, ChatTool, InstalledApp, Method, SwitchedOff
from shared.domain.documents import Create
from shared.domain.ids import AppId, UserId
from shared.domain.model import ToolCall, ToolResult
from shared.domain.provenance import Source
from shared.domain.text import count_tokens
from tests.doubles import FixedClock, ScriptedModel, calls, says
from tests.functions.chat.conftest import ADA, EVE, RecordingToolbox, World
from tests.functions.chat.test_turn import run

APP = App(id=AppId("A"), owner=EVE, name="Notes", created_at=FixedClock().now(), private=False)
NOUNS = (
    "invoice", "ticket", "meeting", "song", "recipe", "flight", "hotel", "parcel", "lamp", "thermostat",
    "expense", "contact", "budget", "workout", "puzzle", "poem", "camera", "garden", "insurance", "podcast",
    "document", "spreadsheet", "survey", "newsletter", "domain", "server", "backup", "translation", "map", "stock",
)  # fmt: skip
VERBS = (
    "create",
    "list",
    "update",
    "delete",
    "search",
    "share",
    "export",
    "import",
    "archive",
    "star",
)
SCHEMA = {"type": "object", "properties": {"id": {"type": "string", "description": "Which one"}}}


def declared(name: str, description: str, parameters: Any = SCHEMA) -> ChatTool:
    return ChatTool(
        name=name,
        description=description,
        endpoint="https://a.example.com",
        parameters=parameters,
    )


def app(number: int, *tools: ChatTool, name: str = "") -> App:
    named = name or f"{NOUNS[number % len(NOUNS)].title()} Desk {number}"
    return replace(APP, id=AppId(f"A{number:02}"), name=named, chat_tools=tools)


def desk(number: int) -> App:
    """Build an app for one noun, with ten tools."""
    noun = NOUNS[number % len(NOUNS)]
    return app(number, *(declared(f"{verb}_{noun}", f"{verb.title()} a {noun}") for verb in VERBS))


DESKS = [desk(n) for n in range(len(NOUNS))]
SLACK = app(77, declared("sendMessage", "Post to a channel or a person"), name="Slack")
MANY = [*DESKS, SLACK]
"""301 tools."""


def offered(
    *apps: App, question: str = "", earlier: Sequence[str] = (), uid: UserId = ADA
) -> list[Tool]:
    return app_tools(RecordingToolbox(), uid, apps, question, earlier)


def names(tools: Sequence[Tool]) -> list[str]:
    return [tool.spec.name[:-17] if tool.app_id else tool.spec.name for tool in tools]


def tokens(tools: Sequence[Tool]) -> int:
    return sum(
        count_tokens(tool.spec.description + json.dumps(tool.spec.parameters)) for tool in tools
    )


async def search(tool: Tool, query: str) -> Found:
    found = await tool.run({"query": query})
    assert isinstance(found, Found)
    return found


def test_p9_few_tools_are_offered_all_and_in_the_same_order_whatever_is_asked():
    apps = [app(1, *desk(1).chat_tools), app(2, *desk(2).chat_tools)]

    one, other = offered(*apps, question="tickets?"), offered(*apps, question="Who is Ann?")

    assert names(one) == names(other) == names(offered(*apps))
    assert names(one) == [tool.name for each in apps for tool in each.chat_tools]


def test_m102_of_many_tools_those_are_offered_whose_words_fit():
    tools = offered(*MANY, question="Please send Ann a message on Slack")

    assert tools[0].spec.name == FIND
    assert "sendMessage" in names(tools)
    assert len(tools) <= 1 + CHOSEN


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Archive the invoice of May", "archive_invoice"),
        ("Which songs do I have?", "list_song"),
        ("search my recipes for lentils", "search_recipe"),
        ("Turn the lamps: update them", "update_lamp"),
        ("EXPORT MY BUDGET!", "export_budget"),
        ("Kannst du meine Podcasts zeigen?", "list_podcast"),
        ("I need my workouts shared with Bob", "share_workout"),
    ],
)
def test_m102_a_question_gets_the_tool_that_it_speaks_of(question: str, wanted: str):
    assert wanted in names(offered(*MANY, question=question))


def test_m102_what_was_said_before_helps_to_choose():
    earlier = ["I have a new recipe for lentils"]

    assert "search_recipe" in names(offered(*MANY, question="Find it", earlier=earlier))
    assert "search_recipe" not in names(offered(*MANY, question="Who is Ann?"))


def test_m103_three_hundred_tools_cost_a_question_a_bounded_prompt():
    for question in ("", "Who is Ann?", " ".join(NOUNS), " ".join(VERBS)):
        tools = offered(*MANY, question=question)

        assert tools[0].spec.name == FIND
        assert len(tools) <= 1 + CHOSEN
        assert tokens(tools) <= MAX_TOKENS


def test_m103_large_schemas_are_bounded_by_tokens_however_few_the_tools():
    large = {"type": "object", "description": "d" * 15_000}
    heavy = app(1, *(declared(f"t{n}", "Mow the lawn", large) for n in range(FEW)))

    tools = offered(heavy, question="Mow the lawn")

    assert 1 < len(tools) < FEW
    assert tokens(tools) <= MAX_TOKENS + 200


async def test_m103_a_search_finds_every_other_tool_under_a_cap():
    find, *chosen = offered(*MANY, question="Who is Ann?")

    found = await search(find, "export a spreadsheet")

    assert chosen == []
    assert names(found.tools)[0] == "export_spreadsheet"
    assert len(found.tools) <= FOUND
    assert count_tokens(found(Citations())) <= 400
    again = await search(find, "export a spreadsheet")
    assert not set(names(again.tools)) & set(names(found.tools))


async def test_m103_words_that_fit_nothing_are_answered_with_what_there_is():
    [find] = offered(*MANY, question="Who is Ann?")

    text = (await search(find, "xyzzy"))(Citations())

    assert "- Invoice Desk 0: create_invoice, list_invoice" in text
    assert count_tokens(text) <= 1_500


async def test_m103_a_turn_searches_a_few_times_only():
    [find] = offered(*MANY, question="Who is Ann?")

    found = [await search(find, f"{noun}s") for noun in NOUNS[: SEARCHES + 1]]

    assert [bool(one.tools) for one in found] == [True] * SEARCHES + [False]
    assert sum(len(one.tools) for one in found) <= SEARCHES * FOUND


def test_m102_what_cannot_be_called_is_not_offered():
    off = SwitchedOff(at=FixedClock().now(), reason="It failed for a day.")
    private = replace(desk(1), private=True)

    assert offered(replace(desk(1), switched_off=off)) == []
    assert offered(private, uid=ADA) == []
    assert len(offered(private, uid=EVE)) == len(VERBS)


@given(st.lists(st.text(min_size=1, max_size=64), min_size=1, max_size=8, unique=True))
def test_t3_p9_every_name_becomes_one_that_a_model_api_takes_and_leads_back(named: list[str]):
    toolbox = RecordingToolbox()
    both = [app(n, *(declared(name, "Do it") for name in named)) for n in range(2)]
    tools = app_tools(toolbox, ADA, both, "")

    async def call_all() -> None:
        for tool in tools:
            await tool.run({})

    anyio.run(call_all)

    assert len({tool.spec.name for tool in tools}) == 2 * len(named)
    assert all(re.fullmatch("[A-Za-z0-9_-]{1,64}", tool.spec.name) for tool in tools)
    called = [(app_id, name) for _, app_id, name, _ in toolbox.called]
    assert called == [(each.id, name) for each in both for name in named]


def test_p9_no_app_can_take_the_name_of_anothers_tool() -> None:
    """These names agree in their words and in 24 bits of their hash, found in half a second."""
    forger = app(1, declared("sendMessage  #$+  &#", "Post to a channel or a person"))

    forged, named = offered(forger, SLACK)

    assert forged.spec.name != named.spec.name


CALLED: Sequence[tuple[Method, bool]] = [
    ("GET", True),
    ("GET", False),
    ("POST", True),
    ("DELETE", False),
]


def test_t11_an_apps_tool_has_side_effects_unless_it_is_get_and_declared_read_only():
    declared = tuple(
        ChatTool(
            name=f"t{n}",
            description="d",
            endpoint="https://a.example.com",
            method=method,
            read_only=read_only,
        )
        for n, (method, read_only) in enumerate(CALLED)
    )
    tools = offered(replace(APP, chat_tools=declared))

    assert [tool.side_effect for tool in tools] == [False, True, True, True]
    assert {tool.source for tool in tools} == {Source(kind="app", id="A", name="Notes")}


async def test_t11_what_a_search_says_is_ours_and_puts_no_call_in_doubt():
    [find] = offered(*MANY, question="Who is Ann?")
    call = ToolCall(id="c1", name=FIND, arguments='{"query": "export songs"}')

    [returned] = await Toolkit([find], timeout_s=30).run([call])

    assert returned.source is None
    assert not any(tool.spec.description in returned.text for tool in offered(*MANY))


async def test_m103_what_a_search_found_is_called_in_the_next_cycle(world: World):
    await install(world, MANY)
    name = model_name(DESKS[3], DESKS[3].chat_tools[6])
    script = [calls((FIND, {"query": "export songs"})), calls((name, {"id": "s1"})), says("Done.")]
    with ScriptedModel(*script) as model:
        deps = world.deps(model)
        await run(deps, await prepare(deps, ADA, "Who is Ann?", None))

    first, second, _ = model.calls
    before, after = ([spec.name for spec in call.tools] for call in (first, second))
    assert name not in before
    assert after[: len(before)] == before, "the prompt's beginning stays as it was"
    assert name in after
    assert world.toolbox.called == [(ADA, "A03", "export_song", {"id": "s1"})]
    [result] = [message for message in second.messages if isinstance(message, ToolResult)]
    assert "can be called now" in result.text


async def install(world: World, apps: Sequence[App]) -> None:
    deps = world.deps()
    for each in apps:
        await deps.apps.create(each)
        installed = InstalledApp(app_id=each.id, installed_at=world.clock.now())
        await deps.installed_apps.add(ADA, installed)


async def reads(deps: Any) -> int:
    with telemetry.request("test") as record:
        await prepare(deps, ADA, "Archive the invoice", None)
    return int(record.facts()["reads"])


async def test_m102_reads_do_not_grow_with_apps_registered_or_installed(world: World):
    """Warm: an instance reads an app once a minute."""
    await install(world, [SLACK])
    few = world.deps()
    await reads(few)
    with_one = await reads(few)
    crowd = [replace(APP, id=AppId(f"B{n:04}")) for n in range(2_000)]
    for start in range(0, len(crowd), 500):
        batch = crowd[start : start + 500]
        await world.documents.write(
            *(Create(f"apps/{one.id}", {**dump(one), "chat_tools": []}) for one in batch)
        )
    await install(world, [desk(n) for n in range(49)])
    many = world.deps()

    cold, warm = await reads(many), await reads(many)

    assert (warm, cold) == (with_one, with_one + 50)


async def test_p9_an_app_installed_a_moment_ago_is_offered_and_one_removed_is_not(world: World):
    await install(world, [SLACK])
    deps = world.deps()
    await prepare(deps, ADA, "Hi", None)
    await install(world, [desk(1)])
    await deps.installed_apps.remove(ADA, SLACK.id)

    turn = await prepare(deps, ADA, "Hi", None)

    assert {tool.app_id for tool in turn.tools if tool.app_id} == {desk(1).id}
