"""What the owner sees when a part fails, and what is stored then: one row a case (C55, C57, X42)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import chain, repeat
from typing import Any

import pytest

from functions.chat import guards
from functions.chat.closing import close_run
from functions.chat.guards import Limits
from functions.chat.recorder import FLUSH_S, PAUSES_S
from functions.chat.tools.apps import model_name
from functions.chat.tools.library import SEARCH_DOWN
from shared.adapters import offline_answers
from shared.adapters.offline_model import OfflineModel
from shared.adapters.openai_model import OpenaiModel
from shared.adapters.resilient_model import ResilientModel
from shared.domain.app import App, ChatTool, InstalledApp
from shared.domain.chat import MAIN_SESSION, new_session
from shared.domain.ids import AppId, RunId
from shared.domain.model import ToolResult
from tests.doubles import FixedClock, ScriptedModel, calls, says
from tests.faults import (
    SECRET,
    Fault,
    Faulty,
    bug,
    doubled,
    error,
    hangs,
    lost,
    slow,
    timeout,
    well,
)
from tests.functions.chat.conftest import ADA, World
from tests.functions.chat.library import conversation, keep
from tests.functions.chat.test_endpoints import ask
from tests.servers.openai import Script, ScriptedOpenai, scripted_openai

QUESTION = "When does Ann fly to Lisbon?"
NOTHING: Sequence[str] = ()


@pytest.fixture
async def world(world: World) -> World:
    """Begin the chat: a question is one write then, and its answer another."""
    session = new_session(MAIN_SESSION, app_id=None, now=world.clock.now())
    await world.deps().sessions.add(ADA, session)
    return world


class Impatient(FixedClock):
    """Passes each pause before another attempt at once; the journal's half seconds never end."""

    async def sleep(self, seconds: float) -> None:
        if seconds == FLUSH_S:
            await super().sleep(seconds)
        self.pass_(seconds=seconds)


def test_a_pause_before_another_attempt_is_told_from_the_journals_half_second() -> None:
    """Where they were equal, an impatient test would wait for ever."""
    assert FLUSH_S not in PAUSES_S


def faulty(world: World, ports: Mapping[str, Mapping[str, Any]]) -> tuple[World, list[Faulty]]:
    broken = {name: Faulty(getattr(world, name), **faults) for name, faults in ports.items()}
    parts: Any = broken
    return replace(world, clock=Impatient(), **parts), list(broken.values())


async def stored(world: World) -> list[str]:
    newest = await world.deps().messages.newest(ADA, MAIN_SESSION, limit=9)
    return [message.text for message in reversed(newest)]


@pytest.mark.parametrize(
    ("ports", "told", "outcome", "kept"),
    [
        # documents: what a question needs is read
        ({"documents": {"query": [error]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"documents": {"get_many": [timeout]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"documents": {"query": [slow]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"documents": {"query": repeat(error)}}, guards.UNREADABLE, "refused", NOTHING),
        ({"documents": {"get_many": repeat(timeout)}}, guards.UNREADABLE, "refused", NOTHING),
        # documents: the question, then the answer, is written
        ({"documents": {"write": [error]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"documents": {"write": [timeout]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"documents": {"write": [timeout, timeout]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"documents": {"write": repeat(error)}}, guards.NOT_SAVED, "failed", NOTHING),
        ({"documents": {"write": repeat(timeout)}}, guards.NOT_SAVED, "failed", NOTHING),
        ({"documents": {"write": repeat(bug)}}, guards.NOT_SAVED, "failed", NOTHING),
        ({"documents": {"write": [lost]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"documents": {"write": [well, lost]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"documents": {"write": [slow, slow]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"documents": {"write": [doubled, doubled]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"documents": {"write": [well, error]}}, "Hi", "completed", [QUESTION, "Hi"]),
        # what follows an answer is told, and its closing ordered
        ({"events": {"publish": [error]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"events": {"publish": [lost]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"events": {"publish": [bug]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"events": {"publish": [doubled]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"tasks": {"create": [error]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"tasks": {"create": [bug]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"tasks": {"create": [slow]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"tasks": {"create": [doubled]}}, "Hi", "completed", [QUESTION, "Hi"]),
    ],
)
async def test_c55_a_fault_of_a_port_is_mended_or_told(
    world: World, ports: Any, told: str, outcome: str, kept: Sequence[str]
) -> None:
    model = ScriptedModel(says("Hi"))
    broken, ports_at_fault = faulty(world, ports)

    response, shown = await ask(broken.deps(model), {"text": QUESTION})

    assert (response.status_code, shown.text, shown.failed) == (200, told, False)
    assert shown.done is not None
    assert shown.done["metadata"]["outcome"] == outcome
    session = await world.deps().sessions.get(ADA, MAIN_SESSION)
    assert session is not None
    assert (await stored(world), session.message_count) == (list(kept), len(kept))
    assert model.open_streams == 0
    assert all(port.befallen for port in ports_at_fault)


async def test_c55_an_answer_that_cannot_be_stored_is_told_as_failed_and_its_run_closed_later(
    world: World,
) -> None:
    faults = {"documents": {"write": chain([well], repeat(error))}}
    broken, _ = faulty(world, faults)

    response, shown = await ask(broken.deps(ScriptedModel(says("Hi"))), {"text": QUESTION})
    assert (shown.text, shown.failed) == ("Hi", False)
    assert shown.done is not None
    assert shown.done["metadata"]["outcome"] == "failed"
    assert await stored(world) == [QUESTION]

    deps = world.deps()
    later = deps.clock.now() + timedelta(minutes=3)
    await close_run(deps.runs, ADA, RunId(response.headers["x-run-id"]), now=later)

    assert await stored(world) == [QUESTION, guards.INTERRUPTED]


async def test_c55_a_closing_that_comes_after_the_end_and_twice_changes_nothing(
    world: World,
) -> None:
    deps = world.deps(ScriptedModel(says("Hi")))
    response, _ = await ask(deps, {"text": QUESTION})
    run_id = RunId(response.headers["x-run-id"])

    for _ in range(2):
        await close_run(deps.runs, ADA, run_id, now=deps.clock.now() + timedelta(minutes=3))

    assert await stored(world) == [QUESTION, "Hi"]


DOES_NOT_WORK = "Error: {} does not work at the moment."
TOO_SLOW = "Error: {} did not answer within 0.1 seconds."
FOUND = "Ann flies to Lisbon on Friday."


@pytest.mark.parametrize(
    ("ports", "tool", "told", "times"),
    [
        ({"vectors": {"query_sparse": [error]}}, "search_conversations", FOUND, 2),
        ({"vectors": {"query_sparse": repeat(error)}}, "search_conversations", SEARCH_DOWN, 2),
        ({"vectors": {"query_sparse": repeat(timeout)}}, "search_memories", SEARCH_DOWN, 2),
        ({"vectors": {"query_sparse": [hangs]}}, "search_memories", TOO_SLOW, 1),
        ({"vectors": {"query_sparse": [bug]}}, "search_memories", DOES_NOT_WORK, 1),
        ({"vectors": {"query_sparse": [slow]}}, "search_conversations", FOUND, 1),
        ({"vectors": {"query_sparse": [doubled]}}, "search_conversations", FOUND, 1),
        ({"toolbox": {"call": [error]}}, "send", DOES_NOT_WORK, 1),
        ({"toolbox": {"call": [lost]}}, "send", DOES_NOT_WORK, 1),
        ({"toolbox": {"call": [hangs]}}, "send", TOO_SLOW, 1),
        ({"toolbox": {"call": [bug]}}, "send", DOES_NOT_WORK, 1),
    ],
)
async def test_x42_a_tool_that_fails_is_told_to_the_model_which_answers_then(
    world: World, ports: Any, tool: str, told: str, times: int
) -> None:
    name = await offered(world, tool)
    arguments = {"query": "Lisbon"}
    model = ScriptedModel(calls((name, arguments)), says("I could not."))
    broken, [port] = faulty(world, ports)

    limits = Limits(call_timeout_s=0.1) if told == TOO_SLOW else Limits()

    _, shown = await ask(broken.deps(model, limits=limits), {"text": QUESTION})

    [result] = [m.text for m in model.calls[1].messages if isinstance(m, ToolResult)]
    assert told.format(name) in result
    assert SECRET not in result
    assert (shown.text, sum(port.calls.values())) == ("I could not.", times)
    assert await stored(world) == [QUESTION, "I could not."]


async def offered(world: World, tool: str) -> str:
    """Keep a conversation, install an app that serves `send`, and name the tool as the model sees it."""
    await keep(world, ADA, conversation(1, FOUND))
    deps = world.deps()
    app = App(
        id=AppId("APP1"),
        owner=ADA,
        name="Post",
        created_at=world.clock.now(),
        chat_tools=(SEND,),
    )
    await deps.apps.create(app)
    await deps.installed_apps.add(ADA, InstalledApp(app_id=app.id, installed_at=world.clock.now()))
    return model_name(app, SEND) if tool == SEND.name else tool


SEND = ChatTool(
    name="send",
    description="Send a letter",
    endpoint="https://post.example/send",
    parameters={"type": "object"},
    status_message="Sending",
)


@pytest.mark.parametrize("fault", [error, timeout, bug])
async def test_c55_without_an_index_the_offline_model_says_that_it_could_not_search(
    world: World, fault: Fault
) -> None:
    broken, _ = faulty(world, {"vectors": {"query_sparse": repeat(fault)}})

    _, shown = await ask(broken.deps(OfflineModel()), {"text": QUESTION})

    assert shown.text == offline_answers.SEARCH_DOWN
    assert await stored(world) == [QUESTION, offline_answers.SEARCH_DOWN]


@pytest.fixture
def server() -> Iterator[ScriptedOpenai]:
    with scripted_openai() as scripted:
        yield scripted


DOWN = Script(status=503)


@pytest.mark.parametrize(
    ("scripts", "told", "outcome", "asked"),
    [
        ([DOWN], "Hello there.", "completed", 2),
        ([Script(break_after=0, text="never seen")], "Hello there.", "completed", 2),
        ([DOWN, DOWN], guards.UNREACHABLE, "failed", 2),
        ([Script(status=429)] * 2, guards.UNREACHABLE, "failed", 2),
        ([Script(status=429, retry_after="60")], guards.UNREACHABLE, "failed", 1),
        ([Script(status=400)], guards.BROKEN, "failed", 1),
        ([Script(status=401)], guards.BROKEN, "failed", 1),
        ([Script(refusal="No.")], guards.BROKEN, "failed", 1),
        ([Script(text="On Friday", break_after=1)], f"On\n\n{guards.BROKEN}", "failed", 1),
        ([Script(text="On Friday", stall_after=1)], f"On\n\n{guards.TOO_LATE}", "limited", 1),
        ([Script(stall_after=0, text="never")], guards.TOO_LATE, "limited", 1),
    ],
    ids=str,
)
async def test_c55_c57_a_fault_of_the_model_is_mended_or_told(
    world: World,
    server: ScriptedOpenai,
    scripts: Sequence[Script],
    told: str,
    outcome: str,
    asked: int,
) -> None:
    server.play(*scripts)
    openai = OpenaiModel(api_key="key", base_url=server.url, models={"agent": "m"})
    model = ResilientModel({"agent": [openai]}, Impatient())
    limits = Limits(deadline_s=2) if outcome == "limited" else Limits()

    response, shown = await ask(world.deps(model, limits=limits), {"text": QUESTION})
    await openai.aclose()

    assert (response.status_code, shown.text, shown.failed) == (200, told, False)
    assert shown.done is not None
    assert shown.done["metadata"]["outcome"] == outcome
    assert len(server.requests) == asked
    assert await stored(world) == [QUESTION, told]


@pytest.mark.parametrize("fault", [error, timeout])
async def test_c55_where_nobody_can_say_who_asks_nothing_is_answered(
    world: World, fault: Fault
) -> None:
    deps = world.deps()
    identity: Any = Faulty(deps.identity, verify=repeat(fault))

    response, _ = await ask(replace(deps, identity=identity), {"text": QUESTION})

    assert response.status_code == 503
    assert SECRET not in response.text
    assert await stored(world) == []
