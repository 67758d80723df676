"""After-turn work: the event of an ended turn, and the title of its chat (P16)."""

import base64
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from functions.chat.api.internal_routes import AFTER_TURN_ROUTES
from functions.chat.deps import AfterTurnDeps, ChatDeps
from functions.chat.turn.after_turn import after_turn
from shared.domain.chat import MAIN_SESSION
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import MessageId, SessionId
from tests.fakes import ScriptedModel, script_answer
from tests.fixtures.callers import build_service_headers, open_client
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.chats import (
    TITLE,
    WORK,
    build_after_turn_deps,
    load_session,
    script_title,
    store_messages,
)
from tests.functions.chat.test_turn import ask, require_end


async def test_a_turn_publishes_its_end_once_its_answer_is_stored_p16(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Hi")) as model:
        end = require_end(await ask(world.deps(model)))

    ids = {"uid": ADA, "session_id": MAIN_SESSION, "run_id": end.message.id}
    assert world.events.published == [("turn.ended", ids)]


async def test_an_answer_completes_when_its_event_cannot_be_published(world: ChatFixture) -> None:
    class DownEvents:
        async def publish(self, *_: object) -> None:
            raise Unavailable("down")

    with ScriptedModel(script_answer("Hi")) as model:
        deps: ChatDeps = replace(world, events=DownEvents()).deps(model)  # type: ignore[arg-type]
        end = require_end(await ask(deps))

    assert (end.outcome, end.message.text) == ("completed", "Hi")


@pytest.mark.parametrize("session_id", [MAIN_SESSION, WORK])
async def test_a_chat_gets_a_title_once_after_its_first_answer_p16(
    world: ChatFixture, session_id: SessionId
) -> None:
    await store_messages(world, "When is the offsite?", "On Friday.", session_id=session_id)
    with ScriptedModel(answers=script_title("Lisbon offsite")) as model:
        await after_turn(build_after_turn_deps(world, model), ADA, session_id)
        await store_messages(world, "And Ann?", "She comes.", session_id=session_id)
        await after_turn(build_after_turn_deps(world, model), ADA, session_id)

    assert (await load_session(world, session_id)).title == "Lisbon offsite"
    ((role, prompt),) = model.prompts
    assert role == "fast"
    assert prompt.data == {"question": "When is the offsite?", "answer": "On Friday."}


@pytest.mark.parametrize(
    ("output", "title"),
    [
        ({"title": ' "Lisbon\u202e offsite" '}, "Lisbon offsite"),
        ({"title": "one two three four five six seven eight nine ten eleven"},
         "one two three four five six seven eight nine ten"),
        ({"title": "x" * 500}, "x" * 120),
        ({"title": " "}, "When is the offsite?"),
        (ModelFailed("refused"), "When is the offsite?"),
    ],
)  # fmt: skip
async def test_a_title_keeps_its_limits_whatever_the_model_says_p16(
    world: ChatFixture, output: object, title: str
) -> None:
    await store_messages(world, "When is the offsite?", "On Friday.")

    with ScriptedModel(answers={TITLE: [output]}) as model:
        await after_turn(build_after_turn_deps(world, model), ADA, MAIN_SESSION)

    assert (await load_session(world)).title == title


async def test_a_title_set_by_the_user_during_generation_is_kept_p16(
    world: ChatFixture,
) -> None:
    class RenamingModel(ScriptedModel):
        async def complete_structured(self, *call: Any) -> Any:
            await world.deps().stores.sessions.change(ADA, MAIN_SESSION, title="Mine")
            return await super().complete_structured(*call)

    await store_messages(world, "When?", "Friday.")
    with RenamingModel(answers=script_title("Theirs")) as model:
        await after_turn(build_after_turn_deps(world, model), ADA, MAIN_SESSION)

    assert (await load_session(world)).title == "Mine"


@pytest.mark.parametrize("texts", [(), ("A question",)])
async def test_a_chat_without_an_answer_gets_no_title_p16(
    world: ChatFixture, texts: Sequence[str]
) -> None:
    await store_messages(world, *texts)

    with ScriptedModel() as model:
        await after_turn(build_after_turn_deps(world, model), ADA, MAIN_SESSION)


async def test_a_chat_is_not_titled_after_an_apps_notification_p16(world: ChatFixture) -> None:
    question, answer = await store_messages(world, "Who is Ann?", "A friend.")
    notification = replace(answer, id=MessageId("n"), from_integration=True)
    later_notification = replace(notification, id=MessageId("m"), created_at=world.clock.now())
    await world.deps().stores.messages.add(
        ADA, await load_session(world), notification, later_notification
    )

    with ScriptedModel(answers=script_title("Ann")) as model:
        await after_turn(build_after_turn_deps(world, model), ADA, MAIN_SESSION)

    assert model.prompts[0][1].data == {"question": question.text, "answer": answer.text}


def build_push_body(event: object) -> bytes:
    data = base64.b64encode(json.dumps(event).encode()).decode()
    return json.dumps({"message": {"data": data, "messageId": "1"}}).encode()


async def post_event(deps: AfterTurnDeps, body: bytes, *, audience: str = "after_turn") -> int:
    headers = await build_service_headers(audience)
    async with open_client("after_turn", AFTER_TURN_ROUTES, deps, headers) as http:
        answer = await http.post("/", content=body)
    return answer.status_code


async def test_the_after_turn_entry_point_accepts_events_from_our_services_only(
    world: ChatFixture,
) -> None:
    await store_messages(world, "When?", "Friday.")
    event = build_push_body({"uid": ADA, "session_id": MAIN_SESSION, "run_id": "r"})
    with ScriptedModel(answers=script_title("Time")) as model:
        deps = build_after_turn_deps(world, model)
        statuses = [
            await post_event(deps, event, audience="close_run"),
            await post_event(deps, build_push_body({"uid": ADA})),
            await post_event(deps, event),
        ]

    assert statuses == [401, 422, 204]
    assert (await load_session(world)).title == "Time"
