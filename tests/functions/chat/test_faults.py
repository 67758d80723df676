"""Faults of every port: what the owner reads then, and what is stored (C55, C57, X42)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import chain, repeat
from typing import Any

import pytest

from functions.chat import user_texts
from functions.chat.deps import Limits
from functions.chat.runs.lapsed_runs import require_closed
from functions.chat.runs.recorder import (
    FLUSH_INTERVAL_S,
    MAX_WRITE_ATTEMPTS,
    compute_write_backoff_s,
)
from functions.chat.tools.app_tools import build_model_name
from functions.chat.tools.library_tools import SEARCH_DOWN
from shared.adapters.cloud.openai_model import OpenaiModel
from shared.adapters.embedded.offline import answers
from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.adapters.resilient_model import ResilientModel
from shared.domain.apps.app import App, ChatTool, InstalledApp
from shared.domain.chats.chat import MAIN_SESSION, build_session
from shared.domain.errors import Unavailable
from shared.domain.ids import AppId, RunId
from shared.domain.models.model import ToolResult
from shared.domain.models.model_failure import describe_model_failure
from tests.fakes import FixedClock, ScriptedModel, script_answer, script_calls
from tests.fault_injection import (
    INTERNAL_DETAIL,
    Fault,
    FaultyPort,
    delay,
    deliver_twice,
    hang,
    lose_response,
    raise_bug,
    raise_timed_out,
    raise_unavailable,
    succeed,
)
from tests.fixtures.chat import ADA, ChatFixture
from tests.fixtures.tool_pins import consent_to
from tests.functions.chat.library import build_conversation, store_conversations
from tests.functions.chat.test_message_routes import ask
from tests.servers.openai import Script, ScriptedOpenai, scripted_openai

QUESTION = "What now?"
"""It says so little that nothing is looked for before the model asks."""
ABOUT_LISBON = "When does Ann fly to Lisbon?"
NO_TEXTS: Sequence[str] = ()


@pytest.fixture
async def world(world: ChatFixture) -> ChatFixture:
    """Store the chat session, so that a question is one write, and its answer another."""
    session = build_session(MAIN_SESSION, app_id=None, now=world.clock.now())
    await world.deps().stores.sessions.add(ADA, session)
    return world


class ImpatientClock(FixedClock):
    """Skips pauses between attempts; the pause between two flushes of a journal never ends."""

    async def sleep(self, seconds: float) -> None:
        if seconds == FLUSH_INTERVAL_S:
            await super().sleep(seconds)
        self.advance(seconds=seconds)


def test_retry_pauses_differ_from_the_flush_interval() -> None:
    """ImpatientClock tells them apart by their length."""
    pauses_s = [compute_write_backoff_s(n, Unavailable()) for n in range(1, MAX_WRITE_ATTEMPTS)]

    assert FLUSH_INTERVAL_S not in pauses_s


def inject_faults(
    world: ChatFixture, ports: Mapping[str, Mapping[str, Any]]
) -> tuple[ChatFixture, list[FaultyPort]]:
    faults = {name: _skip_admission(sequences) for name, sequences in ports.items()}
    broken = {name: FaultyPort(getattr(world, name), **faults[name]) for name in ports}
    parts: Any = broken
    return replace(world, clock=ImpatientClock(), **parts), list(broken.values())


def _skip_admission(faults: Mapping[str, Any]) -> Mapping[str, Any]:
    """Let a turn be admitted: it takes a slot, and counts among the turns of its day."""
    if "write" not in faults:
        return faults
    return {**faults, "write": chain([succeed, succeed], faults["write"])}


async def list_stored_texts(world: ChatFixture) -> list[str]:
    newest = await world.deps().stores.messages.list_newest(ADA, MAIN_SESSION, limit=9)
    return [message.text for message in reversed(newest)]


@pytest.mark.parametrize(
    ("ports", "text", "outcome", "stored_texts"),
    [
        # documents: read what a question needs
        ({"documents": {"query": [raise_unavailable]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"documents": {"get_many": [raise_timed_out]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"documents": {"query": [delay]}}, "Hi", "completed", [QUESTION, "Hi"]),
        (
            {"documents": {"query": repeat(raise_unavailable)}},
            user_texts.STORE_DOWN,
            "refused",
            NO_TEXTS,
        ),
        (
            {"documents": {"get_many": repeat(raise_timed_out)}},
            user_texts.STORE_DOWN,
            "refused",
            NO_TEXTS,
        ),
        # documents: write the question, then the answer
        ({"documents": {"write": [raise_unavailable]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"documents": {"write": [raise_timed_out]}}, "Hi", "completed", [QUESTION, "Hi"]),
        (
            {"documents": {"write": [raise_timed_out, raise_timed_out]}},
            "Hi",
            "completed",
            [QUESTION, "Hi"],
        ),
        (
            {"documents": {"write": repeat(raise_unavailable)}},
            user_texts.QUESTION_NOT_SAVED,
            "failed",
            NO_TEXTS,
        ),
        (
            {"documents": {"write": repeat(raise_timed_out)}},
            user_texts.QUESTION_NOT_SAVED,
            "failed",
            NO_TEXTS,
        ),
        (
            {"documents": {"write": repeat(raise_bug)}},
            user_texts.QUESTION_NOT_SAVED,
            "failed",
            NO_TEXTS,
        ),
        ({"documents": {"write": [lose_response]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"documents": {"write": [succeed, lose_response]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"documents": {"write": [delay, delay]}}, "Hi", "completed", [QUESTION, "Hi"]),
        (
            {"documents": {"write": [deliver_twice, deliver_twice]}},
            "Hi",
            "completed",
            [QUESTION, "Hi"],
        ),
        (
            {"documents": {"write": [succeed, raise_unavailable]}},
            "Hi",
            "completed",
            [QUESTION, "Hi"],
        ),
        # publish the end of the turn; create the task that closes the run
        ({"events": {"publish": [raise_unavailable]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"events": {"publish": [lose_response]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"events": {"publish": [raise_bug]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"events": {"publish": [deliver_twice]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"tasks": {"create": [raise_unavailable]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"tasks": {"create": [raise_bug]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"tasks": {"create": [delay]}}, "Hi", "completed", [QUESTION, "Hi"]),
        ({"tasks": {"create": [deliver_twice]}}, "Hi", "completed", [QUESTION, "Hi"]),
    ],
)
async def test_a_failing_port_is_retried_or_its_failure_is_reported_c55(
    world: ChatFixture, ports: Any, text: str, outcome: str, stored_texts: Sequence[str]
) -> None:
    model = ScriptedModel(script_answer("Hi"))
    broken, ports_at_fault = inject_faults(world, ports)

    response, screen = await ask(broken.deps(model), {"text": QUESTION})

    assert (response.status_code, screen.text, screen.failed) == (200, text, False)
    assert screen.done is not None
    assert screen.done["metadata"]["outcome"] == outcome
    session = await world.deps().stores.sessions.get(ADA, MAIN_SESSION)
    assert session is not None
    assert (await list_stored_texts(world), session.message_count) == (
        list(stored_texts),
        len(stored_texts),
    )
    assert model.open_streams == 0
    assert all(port.fault_count for port in ports_at_fault)


async def test_an_answer_that_cannot_be_stored_fails_and_its_run_is_closed_later_c55(
    world: ChatFixture,
) -> None:
    faults = {"documents": {"write": chain([succeed], repeat(raise_unavailable))}}
    broken, _ = inject_faults(world, faults)

    response, screen = await ask(
        broken.deps(ScriptedModel(script_answer("Hi"))), {"text": QUESTION}
    )
    assert (screen.text, screen.failed) == ("Hi", False)
    assert screen.done is not None
    assert screen.done["metadata"]["outcome"] == "failed"
    assert await list_stored_texts(world) == [QUESTION]

    deps = world.deps()
    later = deps.clock.now() + timedelta(minutes=3)
    await require_closed(deps.stores.runs, ADA, RunId(response.headers["x-run-id"]), now=later)

    assert await list_stored_texts(world) == [QUESTION, user_texts.ANSWER_INTERRUPTED]


async def test_closing_a_run_after_its_end_changes_nothing_c55(
    world: ChatFixture,
) -> None:
    deps = world.deps(ScriptedModel(script_answer("Hi")))
    response, _ = await ask(deps, {"text": QUESTION})
    run_id = RunId(response.headers["x-run-id"])

    for _ in range(2):
        await require_closed(
            deps.stores.runs, ADA, run_id, now=deps.clock.now() + timedelta(minutes=3)
        )

    assert await list_stored_texts(world) == [QUESTION, "Hi"]


TOOL_DOWN = "Error: {} does not work at the moment."
TOOL_TIMED_OUT = "Error: {} did not answer within 0.1 seconds."
CONVERSATION_TEXT = "Ann flies to Lisbon on Friday."


@pytest.mark.parametrize(
    ("ports", "tool", "text", "times"),
    [
        (
            {"vectors": {"query_sparse": [raise_unavailable]}},
            "search_conversations",
            CONVERSATION_TEXT,
            2,
        ),
        (
            {"vectors": {"query_sparse": repeat(raise_unavailable)}},
            "search_conversations",
            SEARCH_DOWN,
            2,
        ),
        ({"vectors": {"query_sparse": repeat(raise_timed_out)}}, "search_memories", SEARCH_DOWN, 2),
        ({"vectors": {"query_sparse": [hang]}}, "search_memories", TOOL_TIMED_OUT, 1),
        ({"vectors": {"query_sparse": [raise_bug]}}, "search_memories", TOOL_DOWN, 1),
        ({"vectors": {"query_sparse": [delay]}}, "search_conversations", CONVERSATION_TEXT, 1),
        (
            {"vectors": {"query_sparse": [deliver_twice]}},
            "search_conversations",
            CONVERSATION_TEXT,
            1,
        ),
        ({"toolbox": {"call": [raise_unavailable]}}, "write", TOOL_DOWN, 1),
        ({"toolbox": {"call": [lose_response]}}, "write", TOOL_DOWN, 1),
        ({"toolbox": {"call": [hang]}}, "write", TOOL_TIMED_OUT, 1),
        ({"toolbox": {"call": [raise_bug]}}, "write", TOOL_DOWN, 1),
    ],
)
async def test_the_model_reads_the_failure_of_a_tool_and_answers_x42(
    world: ChatFixture, ports: Any, tool: str, text: str, times: int
) -> None:
    name = await prepare_tool(world, tool)
    arguments = {"query": "Lisbon"}
    model = ScriptedModel(script_calls((name, arguments)), script_answer("I could not."))
    broken, [port] = inject_faults(world, ports)

    limits = Limits(call_timeout_s=0.1) if text == TOOL_TIMED_OUT else Limits()

    _, screen = await ask(broken.deps(model, limits=limits), {"text": QUESTION})

    [result] = [m.text for m in model.calls[1].messages if isinstance(m, ToolResult)]
    assert text.format(name) in result
    assert INTERNAL_DETAIL not in result
    assert (screen.text, sum(port.calls.values())) == ("I could not.", times)
    assert await list_stored_texts(world) == [QUESTION, "I could not."]


async def prepare_tool(world: ChatFixture, tool: str) -> str:
    """Store a conversation, install an app with the tool `send`; return the model's tool name."""
    await store_conversations(world, ADA, build_conversation(1, CONVERSATION_TEXT))
    deps = world.deps()
    app = App(
        id=AppId("APP1"),
        owner=ADA,
        name="Post",
        created_at=world.clock.now(),
        chat_tools=(POST,),
    )
    await deps.stores.apps.create(app)
    await deps.stores.installed_apps.add(
        ADA, InstalledApp(app_id=app.id, installed_at=world.clock.now())
    )
    grants = consent_to([app], "always").grants[app.source.key]
    await deps.stores.grants.replace_source(ADA, app.source, grants)
    return build_model_name(app, POST) if tool == POST.name else tool


POST = ChatTool(
    name="write",
    description="Send a letter",
    endpoint="https://post.example/send",
    parameters={"type": "object"},
    status_message="Sending",
)


@pytest.mark.parametrize("fault", [raise_unavailable, raise_timed_out, raise_bug])
async def test_without_an_index_the_offline_model_says_that_it_could_not_search_c55(
    world: ChatFixture, fault: Fault
) -> None:
    broken, _ = inject_faults(world, {"vectors": {"query_sparse": repeat(fault)}})

    _, screen = await ask(broken.deps(OfflineModel()), {"text": ABOUT_LISBON})

    assert screen.text == answers.SENTENCES["search_down"]
    assert await list_stored_texts(world) == [ABOUT_LISBON, answers.SENTENCES["search_down"]]


@pytest.fixture
def server() -> Iterator[ScriptedOpenai]:
    with scripted_openai() as scripted:
        yield scripted


MODEL_DOWN_SCRIPT = Script(status=503)
LIMIT = user_texts.PROVIDER_LIMIT


@pytest.mark.parametrize(
    ("scripts", "text", "outcome", "request_count"),
    [
        ([MODEL_DOWN_SCRIPT], "Hello there.", "completed", 2),
        ([Script(break_after=0, text="never seen")], "Hello there.", "completed", 2),
        ([MODEL_DOWN_SCRIPT, MODEL_DOWN_SCRIPT], user_texts.MODEL_DOWN, "failed", 2),
        ([Script(status=429)] * 2, f"{LIMIT} {user_texts.TRY_LATER}", "failed", 2),
        ([Script(status=429, retry_after="60")], f"{LIMIT} Please try again in 60 s.", "failed", 1),
        ([Script(status=400)], describe_model_failure("other", "service"), "failed", 2),
        ([Script(status=401)], describe_model_failure("refused_key", "service"), "failed", 1),
        ([Script(refusal="No.")], describe_model_failure("filtered", "service"), "failed", 1),
        (
            [Script(text="On Friday", break_after=1)],
            f"On\n\n{user_texts.INTERNAL_ERROR}",
            "failed",
            1,
        ),
        (
            [Script(text="On Friday", stall_after=1)],
            f"On\n\n{user_texts.DEADLINE_PASSED}",
            "limited",
            1,
        ),
        ([Script(stall_after=0, text="never")], user_texts.DEADLINE_PASSED, "limited", 1),
    ],
    ids=str,
)
async def test_a_failing_model_is_retried_or_its_failure_is_reported_c55_c57(
    world: ChatFixture,
    server: ScriptedOpenai,
    scripts: Sequence[Script],
    text: str,
    outcome: str,
    request_count: int,
) -> None:
    server.play(*scripts)
    openai = OpenaiModel(api_key="key", base_url=server.url, models={"agent": "m"})
    model = ResilientModel({"agent": [openai], "fast": [ScriptedModel()]}, ImpatientClock())
    limits = Limits(deadline_s=0.5) if outcome == "limited" else Limits()

    response, screen = await ask(world.deps(model, limits=limits), {"text": QUESTION})
    await openai.aclose()

    assert (response.status_code, screen.text, screen.failed) == (200, text, False)
    assert screen.done is not None
    assert screen.done["metadata"]["outcome"] == outcome
    assert len(server.requests) == request_count
    assert await list_stored_texts(world) == [QUESTION, text]


@pytest.mark.parametrize("fault", [raise_unavailable, raise_timed_out])
async def test_a_question_is_not_answered_while_tokens_cannot_be_verified_c55(
    world: ChatFixture, fault: Fault
) -> None:
    deps = world.deps()
    identity: Any = FaultyPort(deps.identity, verify=repeat(fault))

    response, _ = await ask(replace(deps, identity=identity), {"text": QUESTION})

    assert response.status_code == 503
    assert INTERNAL_DETAIL not in response.text
    assert await list_stored_texts(world) == []
