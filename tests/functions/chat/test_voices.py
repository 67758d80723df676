"""Several models at once: each answers by itself, and the owner chooses one (X31, X32)."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest

from functions.chat import user_texts
from functions.chat.deps import ChatDeps, Limits
from functions.chat.runs.journal import Journal
from functions.chat.tools.app_tools import build_model_name
from functions.chat.turn.answer_turn import answer_turn
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.prepared_turn import PreparedTurn
from functions.chat.turn.question import Question
from shared.data.account.accounts import Accounts
from shared.data.account.model_usage import list_days
from shared.domain.chats.chat import MAIN_SESSION
from shared.domain.chats.run import (
    ConfirmationRequested,
    RunEnded,
    RunEvent,
    VoiceEnded,
    VoicesStarted,
)
from shared.domain.chats.voices import get_voice, select_voice
from shared.domain.errors import ModelUnreachable
from shared.domain.ids import MessageId, RunId
from shared.domain.models.model import ModelCallFinished, TextDelta, Usage
from shared.domain.models.model_failure import describe_model_failure
from tests.fakes import ScriptedModel, ScriptedTurn, UnmaskedModels, script_answer, script_calls
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.test_consent import FIND, MILK, SEND, install
from tests.functions.chat.test_message_routes import ask, open_chat
from tests.functions.chat.test_runs import (
    WatchedDocuments,
    collect_events,
    require_end,
)
from tests.functions.chat.test_turn import build_app, list_stored
from tests.functions.chat.test_ui_messages import parse_chunks

ROLES = ["agent", "standard", "fast"]
UI_PROTOCOL = {"protocol": "ui-message-stream"}
ALL = {"text": "Hello", "models": ROLES}


def script_voices(**turns: ScriptedTurn) -> ScriptedModel:
    return ScriptedModel(by_role={role: [turn] for role, turn in turns.items()})  # type: ignore[misc]


def script_answers(*texts: str) -> ScriptedModel:
    return script_voices(**{role: script_answer(text) for role, text in zip(ROLES, texts)})  # noqa: B905


async def prepare_voices(deps: ChatDeps, *roles: Any) -> PreparedTurn:
    return await prepare_turn(deps, ADA, Question("Hello", models=roles or ROLES))  # type: ignore[arg-type]


async def run_voices(deps: ChatDeps, *roles: Any) -> tuple[PreparedTurn, Journal]:
    turn, journal = await prepare_voices(deps, *roles), Journal()
    await answer_turn(deps, turn, journal)
    return turn, journal


async def list_alternatives(deps: ChatDeps, run_id: str) -> dict[int, tuple[str, str]]:
    """Return text and outcome of the answers beside the main one, by voice."""
    stored = await deps.stores.alternatives.list_all(ADA, MessageId(run_id))
    return {each.voice: (each.text, each.metadata["outcome"]) for each in stored}


def find_outcomes(events: Sequence[RunEvent]) -> dict[int, str]:
    return {
        get_voice(event): own.outcome
        for event in events
        for own in select_voice([event], get_voice(event))
        if isinstance(own, VoiceEnded)
    }


async def test_each_model_answers_and_the_first_is_the_answer_that_the_chat_lists_x31(
    world: ChatFixture,
) -> None:
    with script_answers("One.", "Two.", "Three.") as model:
        deps = world.deps(model)
        turn, journal = await run_voices(deps)

    stored = (await list_stored(deps))[-1]
    assert journal.events[0] == VoicesStarted(tuple(f"scripted-{role}" for role in ROLES))
    assert journal.events[-1] == RunEnded(stored, "completed")
    assert (stored.text, stored.voice, stored.metadata["model"]) == ("One.", 0, "scripted-agent")
    assert await list_alternatives(deps, turn.run_id) == {
        1: ("Two.", "completed"),
        2: ("Three.", "completed"),
    }
    assert find_outcomes(journal.events) == dict.fromkeys(range(3), "completed")


@pytest.mark.parametrize("failing", range(3))
async def test_a_model_that_fails_ends_alone_and_the_others_are_stored_x31(
    world: ChatFixture, failing: int
) -> None:
    turns = {role: script_answer(f"I am {n}.") for n, role in enumerate(ROLES)}
    turns[ROLES[failing]] = [TextDelta("Well"), ModelUnreachable("down")]
    with script_voices(**turns) as model:
        deps = world.deps(model)
        turn, journal = await run_voices(deps)

    stored = (await list_stored(deps))[-1]
    alternatives = await list_alternatives(deps, turn.run_id)
    outcomes = find_outcomes(journal.events)
    main = 1 if failing == 0 else 0
    assert (stored.text, stored.voice) == (f"I am {main}.", main)
    assert alternatives[failing] == (f"Well\n\n{user_texts.INTERNAL_ERROR}", "failed")
    assert sorted([stored.voice, *alternatives]) == [0, 1, 2]
    assert [outcomes.pop(failing), *outcomes.values()] == ["failed", "completed", "completed"]
    assert journal.events[-1] == RunEnded(stored, "completed")


async def test_the_chat_shows_a_model_that_answered_not_a_limit_of_the_first_x31(
    world: ChatFixture,
) -> None:
    with script_voices(agent=[anyio.sleep_forever], fast=script_answer("Two.")) as model:
        deps = world.deps(model, limits=Limits(deadline_s=0.05))
        turn, _ = await run_voices(deps, "agent", "fast")

    stored = (await list_stored(deps))[-1]
    assert (stored.text, stored.voice, stored.metadata["outcome"]) == ("Two.", 1, "completed")
    assert await list_alternatives(deps, turn.run_id) == {
        0: (user_texts.DEADLINE_PASSED, "limited")
    }


@pytest.mark.parametrize(("began", "shown"), [([], "Two."), ([TextDelta("Well")], "Well\n\nTwo.")])
async def test_the_old_app_shows_no_failure_of_the_first_where_another_answers_x31(
    world: ChatFixture, began: list[TextDelta], shown: str
) -> None:
    failing: ScriptedTurn = [*began, ModelUnreachable("x")]
    with script_voices(agent=failing, fast=script_answer("Two.")) as model:
        answer, screen = await ask(world.deps(model), {"text": "Hi", "models": ["agent", "fast"]})

    assert user_texts.INTERNAL_ERROR.encode() not in answer.content
    assert (screen.text, screen.failed) == (shown, False)


async def test_the_old_app_reads_why_where_all_models_fail_x31(world: ChatFixture) -> None:
    down: ScriptedTurn = [ModelUnreachable("x")]
    with script_voices(agent=down, fast=down) as model:
        answer, screen = await ask(world.deps(model), {"text": "Hi", "models": ["agent", "fast"]})

    sentence = describe_model_failure("no_connection", "service")
    assert sentence.encode() in answer.content
    assert screen.text == sentence


async def test_where_all_models_fail_the_first_one_says_so(world: ChatFixture) -> None:
    with script_voices(agent=[ModelUnreachable("down")], fast=[ModelUnreachable("down")]) as model:
        _, journal = await run_voices(world.deps(model), "agent", "fast")

    end = journal.events[-1]
    assert isinstance(end, RunEnded)
    assert (end.outcome, end.message.voice) == ("failed", 0)


async def test_the_models_answer_at_the_same_time_x31(world: ChatFixture) -> None:
    first_spoke, second_spoke = anyio.Event(), anyio.Event()

    async def wait_for_second() -> None:
        first_spoke.set()
        await second_spoke.wait()

    async def answer_first() -> None:
        await first_spoke.wait()
        second_spoke.set()

    agent: ScriptedTurn = [TextDelta("A"), wait_for_second, *script_answer("B")]
    with script_voices(agent=agent, fast=[answer_first, *script_answer("C")]) as model:
        deps = world.deps(model)
        turn, _ = await run_voices(deps, "agent", "fast")

    assert (await list_stored(deps))[-1].text == "AB"
    assert await list_alternatives(deps, turn.run_id) == {1: ("C", "completed")}


@asynccontextmanager
async def run_half(world: ChatFixture, documents: WatchedDocuments) -> AsyncIterator[RunId]:
    """Yield a run of which the second model has answered, and half of the others is stored."""
    turns: Mapping[str, ScriptedTurn] = {
        "agent": [TextDelta("Half one"), anyio.sleep_forever],
        "standard": script_answer("Two."),
        "fast": [anyio.sleep_forever],
    }
    with script_voices(**turns) as model:
        deps = replace(world, documents=documents).deps(model)  # type: ignore[arg-type]
        turn = await prepare_voices(deps)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer_turn, deps, turn, Journal())
            await documents.wait_for_flush(world)
            yield turn.run_id
            if active_run := deps.active_runs.find(ADA, turn.run_id):
                active_run.end("stopped")


async def test_a_stop_ends_all_models_and_stores_what_each_said_x31(world: ChatFixture) -> None:
    async with run_half(world, WatchedDocuments(world)) as run_id:
        pass

    deps = world.deps()
    events = [numbered.event for numbered in await collect_events(deps, run_id)]
    stored = (await list_stored(deps))[-1]
    assert (stored.text, stored.metadata["outcome"]) == ("Half one", "stopped")
    assert await list_alternatives(deps, run_id) == {
        1: ("Two.", "completed"),
        2: (user_texts.ANSWER_STOPPED, "stopped"),
    }
    assert find_outcomes(events) == {0: "stopped", 1: "completed", 2: "stopped"}
    assert events[-1] == RunEnded(stored, "stopped")


async def test_a_crash_leaves_what_each_model_said_x31(world: ChatFixture) -> None:
    documents = WatchedDocuments(world)

    async def fail(*_: object) -> None:
        raise RuntimeError("this process is dead")

    async with run_half(world, documents) as run_id:
        documents.write = documents.get = fail  # type: ignore[method-assign, attr-defined]
        world.clock.advance(seconds=10)
        numbered = await collect_events(world.deps(), run_id)

    deps = world.deps()
    stored = (await list_stored(deps))[-1]
    assert require_end(numbered) == RunEnded(stored, "interrupted")
    assert stored.text == "Half one"
    assert await list_alternatives(deps, run_id) == {
        1: ("Two.", "completed"),
        2: (user_texts.ANSWER_INTERRUPTED, "interrupted"),
    }
    assert find_outcomes([each.event for each in numbered]) == {
        0: "interrupted",
        1: "completed",
        2: "interrupted",
    }


async def test_another_process_streams_the_same_events_of_all_models_x36(
    world: ChatFixture,
) -> None:
    call = script_calls(("get_memories", {}), text="Let me see.")
    with ScriptedModel(
        by_role={"agent": [call, script_answer("Hi ", "Ada")], "fast": [call, script_answer("Yo")]}
    ) as model:
        turn, journal = await run_voices(world.deps(model), "agent", "fast")

    followed = [numbered async for numbered in journal.tail()]
    assert await collect_events(world.deps(), turn.run_id) == followed


async def test_the_stream_of_several_models_resumes_byte_for_byte_x36(world: ChatFixture) -> None:
    with script_answers("One.", "Two.", "Three.") as model:
        deps = world.deps(model)
        async with open_chat(deps) as http:
            whole = await http.post("/v2/messages", json=ALL, params=UI_PROTOCOL)
            run_id = whole.headers["x-run-id"]
            first_groups, _, rest = whole.content.partition(b"\nid: 4\n\n")
            resumed = await http.get(f"/v2/messages/{run_id}/stream", params={"after": 4})

    assert first_groups
    assert resumed.content == rest


async def test_the_stream_names_the_models_and_wraps_all_but_the_first_x32(
    world: ChatFixture,
) -> None:
    with script_answers("One.", "Two.") as model:
        deps = world.deps(model)
        async with open_chat(deps) as http:
            body = {"text": "Hello", "models": ROLES[:2]}
            response = await http.post("/v2/messages", json=body, params=UI_PROTOCOL)

    chunks = parse_chunks(response.content)
    wrapped = [chunk["data"] for chunk in chunks[:-1] if chunk["type"] == "data-voice"]
    assert [chunk["data"] for chunk in chunks[:-1] if chunk["type"] == "data-voices"] == [
        {"models": ["scripted-agent", "scripted-standard"]}
    ]
    assert [each["delta"] for each in chunks[:-1] if each["type"] == "text-delta"] == ["One."]
    assert [
        each["chunk"]["delta"] for each in wrapped if each["chunk"]["type"] == "text-delta"
    ] == ["Two."]
    ends = [each for each in wrapped if each["chunk"]["type"] == "finish"]
    assert sorted(each["voice"] for each in ends) == [0, 1]
    assert sum(chunk["type"] == "finish" for chunk in chunks[:-1]) == 1


async def test_a_released_app_shows_the_first_answer_alone_x31(world: ChatFixture) -> None:
    with script_answers("One.", "Two.", "Three.") as model:
        _, screen = await ask(world.deps(model), ALL)

    assert screen.text == "One."
    assert screen.done is not None
    assert screen.done["text"] == "One."


async def test_models_that_answer_at_once_get_tools_that_only_read_x31(world: ChatFixture) -> None:
    write = script_calls(("create_action_item", {"description": "Call Ann"}))
    with ScriptedModel(
        by_role={"agent": [write, script_answer("No.")], "fast": [script_answer("No.")]}
    ) as model:
        deps = world.deps(model)
        turn, _ = await run_voices(deps, "agent", "fast")
        alone = await prepare_turn(deps, ADA, Question("Hello"))

    classes = {tool.tool_class for voice in turn.voices for tool in voice.tools}
    assert classes == {"read"}
    assert {tool.tool_class for tool in alone.tools} > {"read"}
    assert await deps.stores.action_items.list_newest(ADA, limit=1) == []


async def test_the_tokens_of_each_model_count_x31(world: ChatFixture) -> None:
    def script(tokens: int) -> ScriptedTurn:
        usage = Usage(input_tokens=tokens, output_tokens=1)
        return [TextDelta("Yes."), ModelCallFinished(reason="stop", model="m", usage=usage)]

    with script_voices(agent=script(10), fast=script(20)) as model:
        deps = world.deps(model)
        await run_voices(deps, "agent", "fast")

    now = world.clock.now()
    [day] = await list_days(deps.quotas, ADA, now, days=1)
    assert {role: used.input_tokens for role, used in day.models.items()} == {
        "agent": 10,
        "fast": 20,
    }
    assert (await deps.quotas.load_usage(ADA, now))["tokens"] == 32
    assert day.turns == 1


@pytest.mark.parametrize(
    "body",
    [
        {"models": ["agent"]},
        {"models": ["agent", "agent"]},
        {"models": ["agent", "gpt-9"]},
        {"models": ["agent", "persona"]},
        {"models": "agent"},
        {"model": "agent", "models": ["agent", "fast"]},
    ],
)
async def test_an_impossible_choice_of_models_is_refused_before_any_call_x31(
    world: ChatFixture, body: dict[str, Any]
) -> None:
    async with open_chat(world.deps()) as http:
        response = await http.post("/v2/messages", json={"text": "Hello", **body})

    assert response.status_code == 422
    assert "model" in response.json()["detail"]


async def test_more_than_three_models_are_refused_before_any_call_x31(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        body = {"text": "Hello", "models": [*ROLES, "agent"]}
        response = await http.post("/v2/messages", json=body)

    assert response.status_code == 413
    assert "3" in response.json()["detail"]


async def test_a_persona_is_not_asked_for_several_answers(world: ChatFixture) -> None:
    persona = build_app(world, persona_prompt="You are Poe.")
    deps = world.deps()
    await deps.stores.apps.create(persona)
    async with open_chat(deps) as http:
        query = {"app_id": persona.id, **UI_PROTOCOL}
        response = await http.post("/v2/messages", json=ALL, params=query)

    assert response.status_code == 422
    assert "its own model" in response.json()["detail"]


async def test_a_repeated_question_of_several_models_is_answered_once(world: ChatFixture) -> None:
    question = {**ALL, "client_message_id": "q1"}
    with script_answers("One.", "Two.", "Three.") as model:
        deps = world.deps(model)
        _, first = await ask(deps, question)
        _, again = await ask(deps, question)
        other, _ = await ask(deps, {**question, "models": ROLES[:2]})

    assert first.done == again.done
    assert other.status_code == 422


async def ask_all(world: ChatFixture, *texts: str) -> tuple[ChatDeps, str]:
    with script_answers(*texts) as model:
        deps = world.deps(model)
        response, _ = await ask(deps, {"text": "Hello", "models": ROLES[: len(texts)]})
    return deps, response.headers["x-run-id"]


async def test_the_owner_reads_all_answers_and_goes_on_with_one_x31(world: ChatFixture) -> None:
    deps, run_id = await ask_all(world, "One.", "Two.", "Three.")
    async with open_chat(deps) as http:
        before = (await http.get(f"/v2/messages/{run_id}/alternatives")).json()
        chosen = await http.put(f"/v2/messages/{run_id}/chosen", json={"voice": 2})
        again = await http.put(f"/v2/messages/{run_id}/chosen", json={"voice": 2})
        after = (await http.get(f"/v2/messages/{run_id}/alternatives")).json()
        listed = (await http.get("/v2/messages")).json()

    assert [each["text"] for each in before] == ["Two.", "Three."]
    assert [each["metadata"]["parts"][-1]["text"] for each in before] == ["Two.", "Three."]
    assert chosen.json() == again.json()
    assert (chosen.json()["text"], chosen.json()["metadata"]["voice"]) == ("Three.", 2)
    assert chosen.json()["metadata"]["model"] == "scripted-fast"
    assert [each["text"] for each in after] == ["One.", "Two."]
    assert [message["text"] for message in listed] == ["Three.", "Hello"]


async def test_the_next_turn_reads_the_chosen_answer_x31(world: ChatFixture) -> None:
    deps, run_id = await ask_all(world, "One.", "Two.")
    async with open_chat(deps) as http:
        await http.put(f"/v2/messages/{run_id}/chosen", json={"voice": 1})
    with ScriptedModel(script_answer("Yes.")) as model:
        await ask(replace(deps, model=UnmaskedModels(model=model)), {"text": "Go on"})

    texts = [getattr(message, "text", "") for message in model.calls[0].messages]
    assert "Two." in texts
    assert "One." not in texts


async def test_the_preview_of_a_chat_follows_the_choice(world: ChatFixture) -> None:
    deps, run_id = await ask_all(world, "One.", "Two.")
    async with open_chat(deps) as http:
        await http.put(f"/v2/messages/{run_id}/chosen", json={"voice": 1})
    session = await deps.stores.sessions.get(ADA, MAIN_SESSION)

    assert session is not None
    assert (session.preview, session.message_count) == ("Two.", 2)


async def test_only_the_last_answer_of_a_chat_can_be_exchanged_x31(world: ChatFixture) -> None:
    deps, run_id = await ask_all(world, "One.", "Two.")
    with ScriptedModel(script_answer("Yes.")) as model:
        await ask(replace(deps, model=UnmaskedModels(model=model)), {"text": "Go on"})
    async with open_chat(deps) as http:
        response = await http.put(f"/v2/messages/{run_id}/chosen", json={"voice": 1})

    assert response.status_code == 409
    assert "last answer" in response.json()["detail"]


async def test_answers_that_are_not_there_are_not_found(world: ChatFixture) -> None:
    deps, run_id = await ask_all(world, "One.", "Two.")
    async with open_chat(deps) as http:
        missing = await http.put(f"/v2/messages/{run_id}/chosen", json={"voice": 2})
    async with open_chat(deps, EVE) as http:
        foreign = await http.put(f"/v2/messages/{run_id}/chosen", json={"voice": 1})
        foreign_list = await http.get(f"/v2/messages/{run_id}/alternatives")

    assert [missing.status_code, foreign.status_code, foreign_list.status_code] == [404] * 3


async def test_an_answer_of_one_model_has_no_alternatives(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Yes.")) as model:
        deps = world.deps(model)
        response, _ = await ask(deps, {"text": "Hello"})
    path = f"/v2/messages/{response.headers['x-run-id']}"
    async with open_chat(deps) as http:
        listed = await http.get(f"{path}/alternatives")
        chosen = await http.put(f"{path}/chosen", json={"voice": 0})

    assert listed.json() == []
    assert chosen.status_code == 404


async def test_clearing_a_chat_deletes_the_answers_of_all_models_x31(world: ChatFixture) -> None:
    deps, run_id = await ask_all(world, "One.", "Two.", "Three.")
    async with open_chat(deps) as http:
        await http.put(f"/v2/messages/{run_id}/chosen", json={"voice": 1})
        await http.delete("/v2/messages")

    assert await list_alternatives(deps, run_id) == {}


async def test_erasing_an_account_deletes_the_answers_of_all_models(world: ChatFixture) -> None:
    deps, run_id = await ask_all(world, "One.", "Two.")
    await Accounts(world.documents).delete(ADA)

    assert await list_alternatives(deps, run_id) == {}


async def test_another_answer_can_be_asked_for_beside_several(world: ChatFixture) -> None:
    deps, run_id = await ask_all(world, "One.", "Two.")
    with ScriptedModel(script_answer("Three.")) as model:
        async with open_chat(replace(deps, model=UnmaskedModels(model=model))) as http:
            await http.post(f"/v2/messages/{run_id}/versions", json={})
            newest = (await http.get("/v2/messages")).json()[0]
            hidden = await http.put(f"/v2/messages/{run_id}/chosen", json={"voice": 1})
            shown = {"message_id": run_id}
            await http.put(f"/v2/chat-sessions/{MAIN_SESSION}/shown-version", json=shown)
            chosen = await http.put(f"/v2/messages/{run_id}/chosen", json={"voice": 1})

    assert newest["text"] == "Three."
    assert hidden.status_code == 409
    assert chosen.json()["text"] == "Two."


async def test_models_that_answer_at_once_ask_nothing_and_use_no_new_tool_x31(
    world: ChatFixture,
) -> None:
    notes = await install(world)
    changed = replace(FIND, description="Find and more")
    await world.deps().stores.apps.update_app(
        notes.id, lambda stored: replace(stored, chat_tools=(changed,))
    )
    call = script_calls((build_model_name(notes, FIND), {"text": "milk"}))
    with ScriptedModel(
        by_role={"agent": [call, script_answer("No.")], "fast": [script_answer("No.")]}
    ) as model:
        _, journal = await run_voices(world.deps(model), "agent", "fast")

    assert not any(isinstance(event, ConfirmationRequested) for event in journal.events)
    assert world.toolbox.calls == []
    end = journal.events[-1]
    assert isinstance(end, RunEnded)
    assert "I could not ask you" in end.message.text


async def test_a_reply_to_a_question_is_for_the_first_model_alone(world: ChatFixture) -> None:
    notes = await install(world)
    send = script_calls((build_model_name(notes, SEND), MILK))
    with ScriptedModel(send, script_answer("I ask."), script_answer("Sent.")) as model:
        deps = world.deps(model)
        await ask(deps, {"text": "Send it"})
        _, answer = await ask(deps, {"text": "yes", "models": ROLES})

    assert [call[2] for call in world.toolbox.calls] == [SEND.name]
    assert answer.done is not None
    assert "voices" not in answer.done["metadata"]
