"""Choice of a model: which there are, and which one answers a question."""

import pytest

from shared.adapters.embedded.offline.offline_model import OfflineModel
from tests.fakes import ScriptedModel, script_answer
from tests.fixtures.chat import ChatFixture
from tests.functions.chat.test_custom_agents import begin_chat, create_agent
from tests.functions.chat.test_message_routes import ask, open_chat
from tests.functions.chat.test_turn import build_app


async def test_the_models_are_listed_with_the_default_one_first(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        models = (await http.get("/v1/chat-models")).json()["models"]

    assert models == [
        {"id": role, "name": f"scripted-{role}"} for role in ("agent", "standard", "fast")
    ]


async def test_a_model_of_several_roles_is_listed_once(world: ChatFixture) -> None:
    async with open_chat(world.deps(OfflineModel())) as http:
        models = (await http.get("/v1/chat-models")).json()["models"]

    assert [model["id"] for model in models] == ["agent"]


async def test_the_model_that_a_question_names_answers_it_alone(world: ChatFixture) -> None:
    with ScriptedModel(*[script_answer("Yes.")] * 2) as model:
        deps = world.deps(model)
        _, chosen = await ask(deps, {"text": "Hello", "model": "fast"})
        _, default = await ask(deps, {"text": "Hello again"})

    assert [call.role for call in model.calls] == ["fast", "agent"]
    assert chosen.done is not None
    assert default.done is not None
    assert chosen.done["metadata"]["model"] == "scripted-fast"
    assert default.done["metadata"]["model"] == "scripted-agent"


async def test_the_question_decides_before_the_agent_of_its_chat(world: ChatFixture) -> None:
    with ScriptedModel(*[script_answer("Yes.")] * 2) as model:
        deps = world.deps(model)
        async with open_chat(deps) as http:
            chat = await begin_chat(http, await create_agent(http, role="standard"))
        await ask(deps, {"text": "Hello"}, chat_session_id=chat)
        await ask(deps, {"text": "Hello", "model": "fast"}, chat_session_id=chat)

    assert [call.role for call in model.calls] == ["standard", "fast"]


async def test_a_persona_answers_with_its_own_model(world: ChatFixture) -> None:
    persona = build_app(world, persona_prompt="You are Poe.")
    with ScriptedModel(script_answer("Nevermore.")) as model:
        deps = world.deps(model)
        await deps.stores.apps.create(persona)
        await ask(deps, {"text": "Hello", "model": "fast"}, app_id=persona.id)

    assert [call.role for call in model.calls] == ["persona"]


async def test_another_answer_may_be_asked_of_another_model(world: ChatFixture) -> None:
    with ScriptedModel(*[script_answer("Yes.")] * 2) as model:
        deps = world.deps(model)
        answer, _ = await ask(deps, {"text": "Hello"})
        async with open_chat(deps) as http:
            path = f"/v2/messages/{answer.headers['x-run-id']}/versions"
            await http.post(path, json={"model": "standard"})

    assert [call.role for call in model.calls] == ["agent", "standard"]


@pytest.mark.parametrize("name", ["persona", "gpt-9", "", 3])
async def test_an_unknown_model_is_refused_before_any_call(
    world: ChatFixture, name: str | int
) -> None:
    async with open_chat(world.deps()) as http:
        response = await http.post("/v2/messages", json={"text": "Hello", "model": name})

    assert response.status_code == 422
    assert "model" in response.json()["detail"]


async def test_a_key_that_came_with_another_model_is_refused(world: ChatFixture) -> None:
    question = {"text": "Hello", "client_message_id": "q1"}
    with ScriptedModel(script_answer("Yes.")) as model:
        deps = world.deps(model)
        await ask(deps, {**question, "model": "fast"})
        other, _ = await ask(deps, question)

    assert other.status_code == 422


async def test_an_answer_of_a_chosen_model_is_no_persona_to_the_log(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Yes.")) as model:
        deps = world.deps(model)
        answer, _ = await ask(deps, {"text": "Hello", "model": "fast"})
        async with open_chat(deps) as http:
            path = f"/v2/messages/{answer.headers['x-run-id']}/diagnostics"
            diagnostics = (await http.get(path)).json()

    assert diagnostics["path"] == "simple"
