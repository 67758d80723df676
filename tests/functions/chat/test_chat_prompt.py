"""The owner's chat prompt, reminder, interests and learning style in the next turn (X1, X19, M110)."""

from typing import Any

import httpx
import pytest

from functions.chat.context.prompt import render_rules
from shared.domain.apps.app import App
from shared.domain.ids import AppId
from shared.domain.models.model import SystemText, UserText
from tests.fakes import ScriptedModel, script_answer
from tests.fixtures.chat import EVE, ChatFixture
from tests.functions.chat.test_message_routes import ask, open_chat

PROMPT = "/v1/users/chat-prompt"
RULES = SystemText(text=render_rules())
PIRATE = "Answer like a pirate.\nNever apologise."


def list_system_texts(model: ScriptedModel, call: int = 0) -> list[str]:
    return [m.text for m in model.calls[call].messages if isinstance(m, SystemText)]


async def test_the_prompt_is_the_second_system_message_until_it_is_reset_x1(
    world: ChatFixture,
) -> None:
    with ScriptedModel(*[script_answer("Yes.")] * 3) as model:
        deps = world.deps(model)
        async with open_chat(deps) as http:
            await ask(deps, {"text": "Before"})
            saved = (await http.put(PROMPT, json={"prompt": f" {PIRATE}\u202e\n"})).json()
            read = (await http.get(PROMPT)).json()
            await ask(deps, {"text": "Now"})
            reset = (await http.delete(PROMPT)).json()
            await ask(deps, {"text": "After"})

    assert saved == read == {"prompt": PIRATE, "reminder": "", "is_default": False}
    assert reset == {"prompt": "", "reminder": "", "is_default": True}
    assert list_system_texts(model, 0) == list_system_texts(model, 2) == [RULES.text]
    assert model.calls[1].messages[:2] == (RULES, SystemText(text=PIRATE))


async def test_the_reminder_is_the_last_message_of_each_call_x19(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Yes.")) as model:
        deps = world.deps(model)
        async with open_chat(deps) as http:
            await http.put(PROMPT, json={"prompt": "", "reminder": "Two sentences at most."})
        await ask(deps, {"text": "Hello"})

    assert list_system_texts(model) == [RULES.text]
    last = model.calls[0].messages[-1]
    assert isinstance(last, UserText)
    assert "Two sentences at most." in last.text


async def test_a_prompt_is_its_owners_alone_x1(world: ChatFixture) -> None:
    deps = world.deps()
    async with open_chat(deps) as ada, open_chat(deps, EVE) as eve:
        await ada.put(PROMPT, json={"prompt": PIRATE})
        theirs = (await eve.get(PROMPT)).json()

    assert theirs["is_default"]


async def test_a_persona_is_not_told_of_the_owners_prompt_x1(world: ChatFixture) -> None:
    persona = App(
        id=AppId("LOVELACE"),
        owner=EVE,
        name="Lovelace",
        created_at=world.clock.now(),
        private=False,
        persona_prompt="You are Ada Lovelace.",
    )
    with ScriptedModel(script_answer("Yes.")) as model:
        deps = world.deps(model)
        await deps.stores.apps.create(persona)
        async with open_chat(deps) as http:
            await http.put(PROMPT, json={"prompt": PIRATE, "reminder": "Be brief."})
            await http.patch("/v1/users/profile", json={"learning_style": "by examples"})
        await ask(deps, {"text": "Hello"}, app_id="LOVELACE")

    given = " ".join(message.text for message in model.calls[0].messages)
    assert list_system_texts(model) == ["You are Ada Lovelace."]
    assert not any(words in given for words in ("pirate", "Be brief", "by examples"))


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"prompt": "x" * 4_001}, "The prompt must be at most 4000 characters long"),
        (
            {"prompt": "x", "reminder": "x" * 1_001},
            "The reminder must be at most 1000 characters long",
        ),
        ({}, "The prompt must be given."),
    ],
)
async def test_a_prompt_that_is_too_long_is_refused_with_the_reason_x1(
    world: ChatFixture, body: dict[str, Any], detail: str
) -> None:
    async with open_chat(world.deps()) as http:
        refusal = await http.put(PROMPT, json=body)
        read = (await http.get(PROMPT)).json()

    assert refusal.status_code == 422
    assert refusal.json()["detail"].startswith(detail)
    assert read["is_default"]


async def save_interests(http: httpx.AsyncClient, *interests: str, style: str) -> dict[str, Any]:
    body = {"interests": interests, "learning_style": style}
    profile: dict[str, Any] = (await http.patch("/v1/users/profile", json=body)).json()
    return profile


async def test_an_answer_is_told_of_related_interests_and_of_the_learning_style_m110(
    world: ChatFixture,
) -> None:
    with ScriptedModel(script_answer("Yes.")) as model:
        deps = world.deps(model)
        async with open_chat(deps) as http:
            profile = await save_interests(
                http, " Jazz  piano", "jazz piano", "Sailing", "", style="by\nexamples\u202e"
            )
        await ask(deps, {"text": "How do I tune a piano?"})

    question = model.calls[0].messages[-1].text
    assert profile["interests"] == ["Jazz piano", "Sailing"]
    assert profile["learning_style"] == "by examples"
    assert '["Jazz piano"]' in question
    assert 'How the owner likes to learn: "by examples"' in question
    assert "Sailing" not in question


async def test_too_many_interests_are_refused_m110(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        many = await http.patch("/v1/users/profile", json={"interests": ["x"] * 51})
        long = await http.patch("/v1/users/profile", json={"interests": ["x" * 61]})
        style = await http.patch("/v1/users/profile", json={"learning_style": "x" * 201})

    assert [answer.status_code for answer in (many, long, style)] == [413, 422, 422]
