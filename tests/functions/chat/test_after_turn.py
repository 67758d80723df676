"""What follows a turn: the event, and the title it brings (P16)."""

import base64
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import httpx
import pytest

from functions.chat.after_turn import after_turn
from functions.chat.endpoints import AFTER_TURN
from functions.chat.wiring import AfterTurnDeps, ChatDeps
from shared.adapters.local_identity import LocalServiceIdentity
from shared.domain.chat import MAIN_SESSION
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import MessageId, SessionId
from shared.edge.http import application
from tests.doubles import ScriptedModel, says
from tests.functions.chat.chats import (
    TITLE,
    WORK,
    after,
    chat,
    tell,
    titled,
)
from tests.functions.chat.conftest import ADA, SECRET, World
from tests.functions.chat.test_turn import ask, end_of


async def test_p16_a_turn_tells_its_end_once_its_answer_is_stored(world: World) -> None:
    with ScriptedModel(says("Hi")) as model:
        end = end_of(await ask(world.deps(model)))

    ids = {"uid": ADA, "session_id": MAIN_SESSION, "run_id": end.message.id}
    assert world.events.published == [("turn.ended", ids)]


async def test_an_event_that_cannot_be_published_costs_no_answer(world: World) -> None:
    class Down:
        async def publish(self, *_: object) -> None:
            raise Unavailable("down")

    with ScriptedModel(says("Hi")) as model:
        deps: ChatDeps = replace(world, events=Down()).deps(model)  # type: ignore[arg-type]
        end = end_of(await ask(deps))

    assert (end.outcome, end.message.text) == ("completed", "Hi")


@pytest.mark.parametrize("session_id", [MAIN_SESSION, WORK])
async def test_p16_a_chat_is_named_after_its_first_answer_and_then_never_again(
    world: World, session_id: SessionId
) -> None:
    await tell(world, "When is the offsite?", "On Friday.", session_id=session_id)
    with ScriptedModel(answers=titled("Lisbon offsite")) as model:
        await after_turn(after(world, model), ADA, session_id)
        await tell(world, "And Ann?", "She comes.", session_id=session_id)
        await after_turn(after(world, model), ADA, session_id)

    assert (await chat(world, session_id)).title == "Lisbon offsite"
    ((role, prompt),) = model.prompts
    assert role == "fast"
    assert prompt.data == {"question": "When is the offsite?", "answer": "On Friday."}


@pytest.mark.parametrize(
    ("given", "title"),
    [
        ({"title": ' "Lisbon\u202e offsite" '}, "Lisbon offsite"),
        ({"title": "one two three four five six seven eight nine ten eleven"},
         "one two three four five six seven eight nine ten"),
        ({"title": "x" * 500}, "x" * 120),
        ({"title": " "}, "When is the offsite?"),
        (ModelFailed("refused"), "When is the offsite?"),
    ],
)  # fmt: skip
async def test_p16_a_title_keeps_its_limits_whatever_the_model_says(
    world: World, given: object, title: str
) -> None:
    await tell(world, "When is the offsite?", "On Friday.")

    with ScriptedModel(answers={TITLE: [given]}) as model:
        await after_turn(after(world, model), ADA, MAIN_SESSION)

    assert (await chat(world)).title == title


async def test_p16_what_the_owner_calls_a_chat_stands_also_while_the_model_thinks(
    world: World,
) -> None:
    class Slow(ScriptedModel):
        async def structured(self, *call: Any) -> Any:
            await world.deps().sessions.change(ADA, MAIN_SESSION, title="Mine")
            return await super().structured(*call)

    await tell(world, "When?", "Friday.")
    with Slow(answers=titled("Theirs")) as model:
        await after_turn(after(world, model), ADA, MAIN_SESSION)

    assert (await chat(world)).title == "Mine"


@pytest.mark.parametrize("told", [(), ("A question",)])
async def test_p16_a_chat_without_an_answer_has_no_title_yet(
    world: World, told: Sequence[str]
) -> None:
    await tell(world, *told)

    with ScriptedModel() as model:
        await after_turn(after(world, model), ADA, MAIN_SESSION)


async def test_p16_an_apps_notification_names_no_chat(world: World) -> None:
    question, answer = await tell(world, "Who is Ann?", "A friend.")
    notified = replace(answer, id=MessageId("n"), from_integration=True)
    late = replace(notified, id=MessageId("m"), created_at=world.clock.now())
    await world.deps().messages.add(ADA, await chat(world), notified, late)

    with ScriptedModel(answers=titled("Ann")) as model:
        await after_turn(after(world, model), ADA, MAIN_SESSION)

    assert model.prompts[0][1].data == {"question": question.text, "answer": answer.text}


def pushed(event: object) -> bytes:
    data = base64.b64encode(json.dumps(event).encode()).decode()
    return json.dumps({"message": {"data": data, "messageId": "1"}}).encode()


async def post(deps: AfterTurnDeps, body: bytes, *, audience: str = "after_turn") -> int:
    token = await LocalServiceIdentity(SECRET).token(audience)
    transport = httpx.ASGITransport(application("after_turn", AFTER_TURN, deps))
    async with httpx.AsyncClient(transport=transport, base_url="http://keepsake") as http:
        answer = await http.post("/", content=body, headers={"Authorization": f"Bearer {token}"})
    return answer.status_code


async def test_the_event_arrives_at_its_entry_point_from_our_own_services_only(
    world: World,
) -> None:
    await tell(world, "When?", "Friday.")
    event = pushed({"uid": ADA, "session_id": MAIN_SESSION, "run_id": "r"})
    with ScriptedModel(answers=titled("Time")) as model:
        deps = after(world, model)
        statuses = [
            await post(deps, event, audience="chat"),
            await post(deps, pushed({"uid": ADA})),
            await post(deps, event),
        ]

    assert statuses == [401, 422, 204]
    assert (await chat(world)).title == "Time"
