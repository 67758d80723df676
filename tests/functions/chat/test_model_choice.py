"""Choice of the model that answers: the rules as a table, and what a turn makes of them (M96)."""

from collections.abc import Mapping, Sequence
from typing import get_args

import pytest

from functions.chat.turn.model_choice import (
    AskedInput,
    ModelReason,
    choose_by_input,
    choose_by_owner,
)
from shared.domain.account.profile import PreferredModel
from shared.domain.chats.custom_agent import AgentRole
from shared.domain.models.model import ModelFacts
from tests.fakes import ScriptedModel, script_answer
from tests.fixtures.chat import ChatFixture
from tests.functions.chat.test_custom_agents import begin_chat, create_agent
from tests.functions.chat.test_message_routes import ask, open_chat
from tests.functions.chat.test_turn import build_app

BLIND = ModelFacts(window_tokens=32_000)
SEEING = ModelFacts(window_tokens=32_000, takes_images=True)
LONG = ModelFacts(window_tokens=1_000_000)
ALL_BLIND: Mapping[AgentRole, ModelFacts] = {"agent": BLIND, "standard": BLIND, "fast": BLIND}
PICTURE = AskedInput(tokens=300, has_pictures=True)
BOOK = AskedInput(tokens=150_000)


@pytest.mark.parametrize(
    ("asked", "facts", "role", "reason"),
    [
        (AskedInput(tokens=2), ALL_BLIND, "agent", "usual"),
        (PICTURE, {**ALL_BLIND, "agent": SEEING, "fast": SEEING}, "agent", "usual"),
        (PICTURE, {**ALL_BLIND, "standard": SEEING, "fast": SEEING}, "standard", "pictures"),
        (PICTURE, {**ALL_BLIND, "fast": SEEING}, "fast", "pictures"),
        (PICTURE, ALL_BLIND, "agent", "usual"),
        (BOOK, {**ALL_BLIND, "standard": LONG, "fast": LONG}, "standard", "size"),
        (BOOK, {**ALL_BLIND, "agent": LONG, "standard": LONG}, "agent", "usual"),
        (BOOK, ALL_BLIND, "agent", "usual"),
    ],
)
def test_the_first_model_that_takes_the_question_answers_m96(
    asked: AskedInput, facts: Mapping[AgentRole, ModelFacts], role: str, reason: str
) -> None:
    choice = choose_by_input(asked, facts.__getitem__)

    assert ([role], reason) == (choice.roles, choice.reason)
    assert choice.roles[0] in get_args(AgentRole)
    assert choice.reason in get_args(ModelReason)


@pytest.mark.parametrize(
    ("named", "agent", "preferred", "roles", "reason"),
    [
        (["fast", "standard"], "agent", "standard", ["fast", "standard"], "question"),
        ([], "standard", "fast", ["standard"], "agent"),
        ([], None, "fast", ["fast"], "profile"),
    ],
)
def test_the_owners_word_comes_first_and_the_closest_to_the_question_m96(
    named: Sequence[AgentRole],
    agent: AgentRole | None,
    preferred: PreferredModel,
    roles: Sequence[AgentRole],
    reason: ModelReason,
) -> None:
    choice = choose_by_owner(named, agent, preferred)

    assert choice is not None
    assert (choice.roles, choice.reason) == (roles, reason)


def test_without_a_word_of_the_owner_the_rules_choose_m96() -> None:
    assert choose_by_owner([], None, "auto") is None


async def test_diagnostics_name_the_model_and_why_it_answered_m96(world: ChatFixture) -> None:
    persona = build_app(world, persona_prompt="You are Poe.")
    with ScriptedModel(*[script_answer("Yes.")] * 6) as model:
        deps = world.deps(model)
        await deps.stores.apps.create(persona)
        async with open_chat(deps) as http:
            chat = await begin_chat(http, await create_agent(http, role="standard"))
            answers = [await ask(deps, {"text": "Hello"})]
            await http.patch("/v1/users/profile", json={"preferred_model": "fast"})
            answers += [
                await ask(deps, {"text": "Hello"}),
                await ask(deps, {"text": "Hello"}, chat_session_id=chat),
                await ask(deps, {"text": "Hello", "model": "agent"}, chat_session_id=chat),
                await ask(deps, {"text": "Hello"}, app_id=persona.id),
            ]
            await http.patch("/v1/users/profile", json={"preferred_model": "auto"})
            answers.append(await ask(deps, {"text": "```\nx = 1\n```"}))
            shown = [
                (await http.get(f"/v2/messages/{a.headers['x-run-id']}/diagnostics")).json()
                for a, _ in answers
            ]

    assert [(each["model"], each["model_reason"]) for each in shown] == [
        ("scripted-agent", "usual"),
        ("scripted-fast", "profile"),
        ("scripted-standard", "agent"),
        ("scripted-agent", "question"),
        ("scripted-persona", "persona"),
        ("scripted-agent", "usual"),
    ]


async def test_an_unknown_preferred_model_is_refused_m96(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        refusal = await http.patch("/v1/users/profile", json={"preferred_model": "persona"})

    assert refusal.status_code == 422
    assert "preferred model" in refusal.json()["detail"]
